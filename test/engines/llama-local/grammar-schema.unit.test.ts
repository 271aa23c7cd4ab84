/** Conversion of a tool's JSON Schema to a grammar. */
import { expect, test } from 'vitest';
import { toGrammarSchema } from '../../../engines/llama-local/grammar-schema.ts';

const text = { type: 'string' };

test.each([
  ['plain types', { type: 'integer', minimum: 1 }, { type: 'integer' }],
  ['several types', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
  ['descriptions', { type: 'string', description: 'A city.' }, { type: 'string', description: 'A city.' }],
  ['values', { enum: ['a', 1, {}] }, { enum: ['a', 1] }],
  ['one value', { const: 'a' }, { const: 'a' }],
  ['choices', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { oneOf: [{ type: 'string' }, { type: 'null' }] }],
  ['lists', { type: 'array', items: { type: 'number' } }, { type: 'array', items: { type: 'number' } }],
  ['anything', {}, { type: 'string' }],
  ['no properties', { type: 'object' }, { type: 'object', properties: {} }],
  [
    'required properties',
    { type: 'object', properties: { a: text, b: {} }, required: ['a', 'b'] },
    { type: 'object', properties: { a: text, b: text } },
  ],
  [
    'optional properties, as shapes without and with them',
    { type: 'object', properties: { a: text, b: text }, required: ['a'] },
    {
      oneOf: [
        { type: 'object', properties: { a: text } },
        { type: 'object', properties: { a: text, b: text } },
      ],
    },
  ],
  [
    'optional properties below the top, which are left out',
    { type: 'array', items: { type: 'object', properties: { a: text, b: text }, required: ['a'] } },
    { type: 'array', items: { type: 'object', properties: { a: text } } },
  ],
])('%s', (_what, schema, expected) => {
  expect(toGrammarSchema(schema)).toEqual(expected);
});

test('a schema that contains itself, or is of the wrong kind', () => {
  const endless: Record<string, unknown> = { type: 'array' };
  endless.items = endless;
  expect(JSON.stringify(toGrammarSchema(endless)).length).toBeLessThan(1_000);
  expect(toGrammarSchema({ type: 7, properties: [], required: 'a', enum: {}, oneOf: 'x' })).toEqual({ type: 'string' });
});

test.each([
  ['a value', { enum: ['a\0b'] }],
  ['the only value', { const: '\u0001' }],
  ['a name of a property', { type: 'object', properties: { 'a\b': text } }],
])('%s with a control character is refused by name', (_what, schema) => {
  expect(() => toGrammarSchema(schema)).toThrow(expect.objectContaining({ code: 'parameter-not-supported' }));
});

test('tabs, line breaks, and descriptions with control characters are taken', () => {
  expect(toGrammarSchema({ enum: ['a\t\r\nb'], description: 'a\0b' })).toMatchObject({ enum: ['a\t\r\nb'] });
});

import { describe, expect, it } from 'vitest';
import { nativeContract, openaiContract, type Contract, type Schema } from '../../src/contract/document.ts';
import { knownParts as prune } from '../../src/contract/known-parts.ts';

const knownParts = (value: object, schema: Schema) => prune(value, schema, nativeContract);

const chat = { $ref: '#/components/schemas/ChatRequest' };
const message = { role: 'user', content: 'Hello' };

describe('pruning of a body', () => {
  it('keeps what the contract declares, at every level', () => {
    const pad = '"pad":[{}],"__proto__":{"top_p":1},"constructor":null';
    const text = `{"messages":[{"role":"user","content":"Hello","name":"x",${pad}}],"model":"m",${pad}}`;
    const body = JSON.parse(text) as object;
    expect(knownParts(body, chat)).toEqual({ messages: [message], model: 'm' });
  });

  it('keeps one item over the limit', () => {
    const { messages } = knownParts({ messages: Array.from({ length: 5000 }, () => message) }, chat) as {
      messages: [];
    };
    expect(messages).toHaveLength(101);
  });

  it('truncates strings past the limit', () => {
    const cut = (content: string) => {
      const { messages } = knownParts({ messages: [{ role: 'user', content }] }, chat) as {
        messages: [typeof message];
      };
      return messages[0].content;
    };
    expect(cut('x'.repeat(1_000_000))).toBe('x'.repeat(64_001));
    expect(Array.from(cut('\u{1F600}'.repeat(1_000_000)))).toHaveLength(32_001);
    expect(cut('\u{1F600}'.repeat(32_000))).toBe('\u{1F600}'.repeat(32_000));
  });

  it('keeps the type of a wrong value', () => {
    const body = {
      messages: { a: [{}] },
      model: [{ a: 1 }],
      voice_id: { a: 1 },
      temperature: 'warm',
      top_p: null,
      max_tokens: 5,
    };
    expect(knownParts(body, chat)).toEqual({
      messages: {},
      model: [],
      voice_id: {},
      temperature: 'w',
      top_p: null,
      max_tokens: 5,
    });
  });

  it('keeps the union of alternatives', () => {
    const schema = {
      type: 'object',
      properties: {
        content: {
          anyOf: [
            { type: 'string', maxLength: 2 },
            {
              type: 'array',
              maxItems: 1,
              items: {
                anyOf: [
                  { type: 'object', properties: { text: { type: 'string' } } },
                  { type: 'object', properties: { url: { type: 'string' } } },
                ],
              },
            },
          ],
        },
        extra: { type: 'object' },
      },
    };
    const part = { text: 'a', url: 'b', other: 'c' };
    expect(knownParts({ content: [part, part, part], extra: { any: [1] } }, schema)).toEqual({
      content: [
        { text: 'a', url: 'b' },
        { text: 'a', url: 'b' },
      ],
      extra: { any: [1] },
    });
    expect(knownParts({ content: 'abcdefgh' }, schema)).toEqual({ content: 'abcde' });
  });
});

interface ArrayOfContract {
  /** Names of properties; `*` is an item. */
  readonly place: readonly string[];
  readonly maxItems: number | undefined;
  readonly type?: Schema['type'];
}

/** All arrays of a schema. `beside` is a bound that stands beside the `anyOf` or `$ref` of the schema. */
function* arraysOf(
  { $ref, anyOf = [], items, properties = {}, maxItems, type }: Schema,
  { resolve }: Pick<Contract, 'resolve'>,
  { place, maxItems: beside }: ArrayOfContract,
): Generator<ArrayOfContract> {
  const here = { place, maxItems: maxItems ?? beside };
  if ($ref !== undefined) yield* arraysOf(resolve($ref), { resolve }, here);
  for (const part of anyOf) yield* arraysOf(part, { resolve }, here);
  if (items) yield { ...here, ...(type !== undefined && { type }) };
  const inner = [...Object.entries(properties), ...(items ? [['*', items] as const] : [])];
  for (const [name, part] of inner)
    yield* arraysOf(part, { resolve }, { place: [...place, name], maxItems: undefined });
}

describe.each(Object.entries({ native: nativeContract, openai: openaiContract }))(
  'arrays of requests: %s',
  (_api, contract) => {
    const arrays = [...contract.operations.values()].flatMap(({ operationId, requestBody }) =>
      Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        [...arraysOf(schema, contract, { place: [], maxItems: undefined })].map((found) => ({
          ...{ ...found, schema },
          name: [operationId, ...found.place].join('/'),
        })),
      ),
    );

    it('are found', () => {
      expect(arrays.map(({ name }) => name)).toContainEqual(expect.stringMatching(/Chat.*\/messages$/));
    });

    it.each(arrays)(
      '$name is an array alone: generators of clients cannot read two types beside `items`',
      ({ type }) => {
        expect(type).toBe('array');
      },
    );

    it.each(arrays)('$name has a bound that is applied before validation', ({ place, maxItems, schema }) => {
      expect(maxItems).toBeLessThanOrEqual(2000);
      const overlong: unknown = Array(3000).fill(null);
      const body = place.reduceRight((inner, name) => (name === '*' ? [inner] : { [name]: inner }), overlong);
      const pruned = prune(body as object, schema, contract);
      const found = place.reduce<unknown>(
        (value, name) => (value as Readonly<Record<string, unknown>>)[name === '*' ? 0 : name],
        pruned,
      );
      expect(found).toHaveLength(maxItems! + 1);
    });
  },
);

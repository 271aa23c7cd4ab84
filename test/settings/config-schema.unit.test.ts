/** The published JSON Schema of the settings file says what the start says. */
import { readdirSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fileSchema } from '../../src/settings/table.ts';

const home = join(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(join(home, path), 'utf8')) as Record<string, unknown>;
const schema = read('generated/config.schema.json') as { properties: object; definitions: object };
const validate = new Ajv({ strict: false, allErrors: true, formats: { iri: URL.canParse } }).compile(schema);

function mistakesIn(yaml: string): string[] {
  validate(parse(yaml));
  return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
}

it('is exported by the package', () => {
  expect(read('package.json').exports).toMatchObject({
    './config.schema.json': { default: './dist/generated/config.schema.json' },
  });
});

it('describes every setting of the file and every built-in engine', () => {
  expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(fileSchema.properties).sort());
  for (const property of Object.values(schema.properties)) expect(property).toHaveProperty('description');
  const engines = readdirSync(join(home, 'engines')).filter(
    (name) => name !== 'contract' && existsSync(join(home, 'engines', name, 'index.ts')),
  );
  expect(Object.keys(schema.definitions).sort()).toEqual(['instance', ...engines].sort());
});

describe('a settings file', () => {
  it.each([
    'port: 80',
    'publicUrl: https://${NAME}/voice\nlogLevel: debug',
    'engines: { a: { use: whisper-cli, models: [{ id: a, file: a.bin }], slots: 2 } }',
    'engines: { a: { use: llm-agent, baseUrl: "${URL}", apiKey: "${KEY}" } }',
    'engines: { a: [{ use: tts, baseUrl: http://a/v1, models: [b] }, { use: espeak }] }',
    'engines: { a: { use: ./mine.ts, anything: 1 } }',
    'mcpServers: { a: { command: x, args: [y] }, b: { url: http://b/mcp } }',
  ])('is valid: %s', (yaml) => {
    expect(mistakesIn(yaml)).toEqual([]);
  });

  it.each([
    ['prot: 80', ' additionalProperties'],
    ['port: 70000', '/port maximum'],
    ['engines: { a: {} }', '/engines/a required'],
    ['engines: { a: { use: whisper-cli, modles: [] } }', '/engines/a additionalProperties'],
    ['engines: { a: { use: llm-agent, baseUrl: ftp://a } }', '/engines/a/baseUrl pattern'],
    ['engines: { a: [{ use: tts, baseUrl: http://a/v1 }] }', '/engines/a/0 required'],
    ['mcpServers: { a: { cmd: x } }', '/mcpServers/a additionalProperties'],
  ])('is wrong: %s', (yaml, mistake) => {
    expect(mistakesIn(yaml)).toContain(mistake);
  });
});

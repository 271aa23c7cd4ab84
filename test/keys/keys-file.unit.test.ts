/** The keys file: what is valid, and what the start says about mistakes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readKeysFile } from '../../src/keys/keys-file.ts';
import { SettingsError } from '../../src/settings/load.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

const one = '1'.repeat(63) + 'a';
const two = '2'.repeat(63) + 'b';

async function read(yaml: string) {
  const directory = await temporaryDirectory();
  await writeFiles(directory, { 'keys.yaml': yaml });
  return await readKeysFile(join(directory, 'keys.yaml'), () => Promise.resolve());
}

/** One line per mistake, without the directory. */
async function refusal(yaml: string): Promise<string[]> {
  try {
    await read(yaml);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as SettingsError).message.split('\n').map((line) => line.replace(/\/\S*\//, ''));
  }
  throw new Error('it is valid');
}

const whole = `keys:
  - name: web-app
    sha256: ${one.toUpperCase()}
    expires: 2027-03-01T00:00:00Z
    operations: [createTranscription, streamChat]
    models: ['local', 'gpt-*', '!gpt-4*']
    tools: [read_aloud, 'files__*']
    weight: 2
    limits: { requestsPerMinute: 60, concurrentRequests: 4, audioMinutesPerDay: 0.5, tokensPerDay: 500000 }
  - { name: cron, sha256: ${two} }
`;

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../generated/keys.schema.json'), 'utf8'),
) as object;
const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
const isValidForEditors = ajv.compile(schema);

describe('a keys file', () => {
  it('may name operations, models, tools, a weight and limits', async () => {
    expect(await read(whole)).toEqual([
      {
        name: 'web-app',
        sha256: one,
        expires: '2027-03-01T00:00:00Z',
        operations: ['createTranscription', 'streamChat'],
        models: ['local', 'gpt-*', '!gpt-4*'],
        tools: ['read_aloud', 'files__*'],
        weight: 2,
        limits: { requestsPerMinute: 60, concurrentRequests: 4, audioMinutesPerDay: 0.5, tokensPerDay: 500000 },
      },
      { name: 'cron', sha256: two },
    ]);
    expect(isValidForEditors(parse(whole)), JSON.stringify(isValidForEditors.errors)).toBe(true);
  });

  it('may have no keys', async () => {
    expect(await read('keys: []')).toEqual([]);
  });

  it('may have several tokens of one key', async () => {
    const rules = 'weight: 2, limits: { tokensPerDay: 5 }';
    const entries = await read(`keys:
      - { name: app, sha256: ${one}, expires: 2027-03-01T00:00:00+01:00, ${rules} }
      - { name: app, sha256: ${two}, ${rules} }`);
    expect(entries.map(({ sha256 }) => sha256)).toEqual([one, two]);
  });
});

const entry = (more: string) => `keys: [{ name: app, sha256: ${one}, ${more} }]`;
const anyOperation = expect.stringMatching(/^keys.yaml: keys\[0\].operations\[0\]: "chat" is not allowed: it must be one of createChat, /) as string; // prettier-ignore
const badName = 'it must have 1 to 32 of a-z, 0-9, - and _, and begin with a letter or digit';

describe('a mistake prevents the start', () => {
  it.each<[what: string, yaml: string, ...lines: string[]]>([
    ['an empty file', '', 'keys.yaml: "keys" is missing'],
    ['a list', `- name: app`, 'keys.yaml: a list is not allowed: it must be a mapping, such as `{ keys: ... }`'],
    ['a text', `hello`, 'keys.yaml: "hello" is not allowed: it must be a mapping, such as `{ keys: ... }`'],
    ['an unknown setting', 'keys: []\nkyes: []', 'keys.yaml: unknown setting "kyes"; did you mean "keys"?'],
    [
      'a misspelled setting',
      entry('wieght: 2'),
      'keys.yaml: keys[0]: unknown setting "wieght"; did you mean "weight"?',
    ],
    ['a misspelled limit', entry('limits: { requestPerMinute: 2 }'), 'keys.yaml: keys[0].limits: unknown setting "requestPerMinute"; did you mean "requestsPerMinute"?'], // prettier-ignore
    ['a token', `keys: [{ name: app, token: hush }]`, 'keys.yaml: keys[0]: "sha256" is missing', 'keys.yaml: keys[0]: unknown setting "token"; known: name, sha256, expires, operations, models, tools, weight, limits'], // prettier-ignore
    ['a token for a hash', `keys: [{ name: app, sha256: hush }]`, 'keys.yaml: keys[0].sha256: its value is not allowed: it must be the SHA-256 of the token, as 64 hex digits; fix: npm run key -- new NAME'], // prettier-ignore
    ['a name with spaces', `keys: [{ name: My app, sha256: ${one} }]`, `keys.yaml: keys[0].name: "My app" is not allowed: ${badName}`], // prettier-ignore
    ['a name of API_KEYS', `keys: [{ name: "key:01234567", sha256: ${one} }]`, `keys.yaml: keys[0].name: "key:01234567" is not allowed: ${badName}`], // prettier-ignore
    ['a date without a time', entry('expires: 2027-03-01'), 'keys.yaml: keys[0].expires: "2027-03-01" is not allowed: it must be a time such as 2027-03-01T00:00:00Z'], // prettier-ignore
    ['an operation that does not exist', entry('operations: [chat]'), anyOperation],
    ['no operation', entry('operations: []'), 'keys.yaml: keys[0].operations: a list is not allowed: it must NOT have fewer than 1 items'], // prettier-ignore
    ['a limit of 0', entry('limits: { tokensPerDay: 0 }'), 'keys.yaml: keys[0].limits.tokensPerDay: 0 is not allowed: it must be >= 1'], // prettier-ignore
    ['the same token twice', `keys: [{ name: app, sha256: ${one} }, { name: other, sha256: ${one.toUpperCase()} }]`, 'keys.yaml: keys[1].sha256: keys[0] has the same token'], // prettier-ignore
    ['one name with two limits', `keys: [{ name: app, sha256: ${one} }, { name: app, sha256: ${two}, weight: 2 }]`, 'keys.yaml: keys[1]: another token of the key "app" (keys[0]): they may differ in sha256 and expires only'], // prettier-ignore
    ['broken YAML', 'keys:\n\t- name: hush', 'keys.yaml is not YAML: line 2, column 1: a tab is used for indentation; use spaces'], // prettier-ignore
  ])('%s', async (_what, yaml, ...lines) => {
    const said = await refusal(yaml);
    expect(said).toEqual(lines);
    expect(said.join()).not.toContain('hush');
  });

  it('a missing file', async () => {
    await expect(readKeysFile('/nowhere/keys.yaml')).rejects.toThrow(
      /^API_KEYS_FILE: \/nowhere\/keys.yaml cannot be read: ENOENT/,
    );
  });
});

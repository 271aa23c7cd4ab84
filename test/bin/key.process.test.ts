/** `key`: a token, shown once, and its entry for the keys file; the list of keys; the end of one. */
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { nameOfToken } from '../../src/keys/key.ts';
import { readKeysFile } from '../../src/keys/keys-file.ts';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

it('prints a token and a valid entry, and stores neither', async () => {
  const cwd = await temporaryDirectory();
  const { code, stdout, stderr } = await runScript('src/bin/key.ts', ['new', 'web-app'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const tokens = stdout.match(/^pl_web-app_[A-Za-z0-9_-]{43}$/gm) ?? [];
  expect(tokens).toHaveLength(1);
  const entry = stdout.slice(stdout.indexOf('  - name:'));
  const sha256 = createHash('sha256').update(tokens[0]!).digest('hex');
  expect(parse(entry)).toEqual([{ name: 'web-app', sha256 }]);
  expect(await readdir(cwd)).toEqual([]);
  await writeFiles(cwd, { 'keys.yaml': `keys:\n${entry}` });
  expect(await readKeysFile(join(cwd, 'keys.yaml'))).toEqual([{ name: 'web-app', sha256 }]);
});

it.each(['null', 'true', '123', '1e3', '0x10'])(
  'quotes a name that YAML takes for something else: %s',
  async (name) => {
    const cwd = await temporaryDirectory();
    const { stdout } = await runScript('src/bin/key.ts', ['new', name], { cwd });
    await writeFiles(cwd, { 'keys.yaml': `keys:\n${stdout.slice(stdout.indexOf('  - name:'))}` });
    expect(await readKeysFile(join(cwd, 'keys.yaml'))).toMatchObject([{ name }]);
  },
);

const [one, two, other] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));

const file = `# The keys of the house.
keys:
  # Of the lobby.
  - name: lobby # in the log
    sha256: ${one}
    limits: { audioMinutesPerDay: 120 }

  # Two tokens, until the clients have changed.
  - { name: web-app, sha256: ${two}, expires: 2020-01-01T00:00:00Z, operations: [createChat], tools: [] }
  - { name: web-app, sha256: ${other}, operations: [createChat], tools: [] }
# The end.
`;

/** Runs the command in a directory with the keys file and what has been used today. */
async function runWithFile(args: readonly string[], { text = file, env = {} } = {}) {
  const cwd = await temporaryDirectory();
  const day = new Date().toISOString().slice(0, 10);
  const usage = { version: 1, day, keys: { lobby: { audio_ms: 750_000, tokens: 4_200 } } };
  await writeFiles(cwd, { 'keys.yaml': text, 'usage.json': JSON.stringify(usage) });
  await chmod(join(cwd, 'keys.yaml'), 0o640);
  const own = { API_KEYS_FILE: 'keys.yaml', DATA_DIR: cwd, ...env };
  const end = await runScript('src/bin/key.ts', args, { cwd, env: own });
  return { ...end, path: join(cwd, 'keys.yaml'), text: () => readFile(join(cwd, 'keys.yaml'), 'utf8') };
}

it('lists the keys: tokens, rights, limits, and what they have used today', async () => {
  const secret = 'a-token-of-the-environment';
  const { code, stdout } = await runWithFile(['list'], { env: { API_KEYS: `another,${secret}` } });
  expect(code).toBe(0);
  expect(stdout).not.toContain(secret);
  const [, unnamed, lobby, app] = stdout.split(/\n(?=\S)/);
  expect(unnamed).toContain(`${await nameOfToken(secret)}\n  tokens      number 2 of API_KEYS\n`);
  expect(lobby).toMatch(
    /^lobby\n {2}tokens {6}aaaaaaaa… without expiry\n {2}operations {2}all except startPreparation/,
  );
  expect(lobby).toContain('limits      120 minutes of audio per day');
  expect(lobby).toContain('today       12.5 of 120 minutes of audio, 4200 tokens');
  expect(app).toContain('bbbbbbbb… expired 2020-01-01T00:00:00Z; cccccccc… without expiry');
  expect(app).toContain('operations  createChat\n  models      all\n  tools       none\n');
});

it('removes a key with its tokens, and nothing else of the file', async () => {
  const { code, stdout, path, text } = await runWithFile(['revoke', 'web-app']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/Removed web-app.* 2 tokens.*SIGHUP/) as string,
  });
  const left = file.replace(/\n {2}# Two tokens[^#]*#/, '\n#');
  expect((await text()).replaceAll(/\n+/g, '\n')).toBe(left.replaceAll(/\n+/g, '\n'));
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

it('removes the first and the last key, and the file stays valid', async () => {
  const { text, path } = await runWithFile(['revoke', 'lobby']);
  expect(await readKeysFile(path)).toHaveLength(2);
  expect(await text()).toContain('# Two tokens, until the clients have changed.');
  const last = await runWithFile(['revoke', 'lobby'], { text: `keys:\n  - name: lobby\n    sha256: ${one}\n` });
  expect({ code: last.code, left: parse(await last.text()) as unknown }).toEqual({ code: 0, left: { keys: [] } });
});

it.each([
  ['a name that is not there', 'web-ap', file, /has no key "web-ap"; did you mean "web-app"\?/],
  [
    'a key whose parts others use',
    'one',
    `keys: [{ name: one, sha256: ${one}, limits: &few { tokensPerDay: 9 } }, { name: two, sha256: ${two}, limits: *few }]`,
    /fix: remove its entries by hand/,
  ],
])('refuses to remove %s, and changes nothing', async (_what, name, before, message) => {
  const { code, stderr, text } = await runWithFile(['revoke', name], { text: before });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) as string });
  expect(await text()).toBe(before);
});

it.each([
  [[]],
  [['new']],
  [['old', 'app']],
  [['new', 'app', 'more']],
  [['new', 'My app']],
  [['new', 'key:01234567']],
  [['revoke']],
  [['list', 'app']],
])('explains itself: %j', async (args) => {
  const { code, stdout, stderr } = await runScript('src/bin/key.ts', args, { cwd: await temporaryDirectory() });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('key new NAME');
});

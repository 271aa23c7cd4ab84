import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, SettingsError, type Environment } from '../../src/settings/load.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

let folder: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
});

async function load(mcpServers: unknown, env: Environment = {}) {
  await writeFiles(folder, { 'parlance.config.yaml': { mcpServers } });
  return loadSettings(env, folder).mcpServers;
}

/** The message that refuses one server, `s`, without the place's beginning. */
async function refusal(server: unknown): Promise<string[]> {
  const outcome = await load({ s: server }).catch((error: unknown) => error);
  if (!(outcome instanceof SettingsError)) throw new Error('it was not refused', { cause: outcome });
  const place = `${join(folder, 'parlance.config.yaml')}: mcpServers.s`;
  return outcome.message.split('\n').map((line) => {
    expect(line.slice(0, place.length)).toBe(place);
    return line.slice(place.length);
  });
}

describe('mcpServers', () => {
  it('is empty by default', () => {
    expect(loadSettings({}, folder).mcpServers).toEqual({});
  });

  it.each([
    ['a program', { command: 'npx' }],
    [
      'a program with all it may have',
      { command: './server', args: ['-y', ''], env: { KEY: 'k' }, tools: ['a'], timeout: 0.5 },
    ],
    ['an address', { url: 'https://tools.example.com' }],
    [
      'an address with all it may have',
      { url: 'http://127.0.0.1:1/mcp?a=b', headers: { 'X-Key': 'k k' }, tools: [], timeout: 3600 },
    ],
  ])('takes %s', async (_what, server) => {
    expect(await load({ 'My-server_1': server })).toEqual({ 'My-server_1': server });
  });

  it.each([
    ['stdio', { command: 'x' }],
    ['http', { url: 'http://a' }],
    ['streamable-http', { url: 'http://a' }],
    ['streamableHttp', { url: 'http://a' }],
  ])('takes the type that other clients write, "%s"', async (type, server) => {
    expect(await load({ a: { type, ...server } })).toEqual({ a: { type, ...server } });
  });

  it('takes its keys from the environment', async () => {
    const servers = {
      a: { url: 'http://a', headers: { authorization: 'Bearer ${KEY}' } },
      b: { command: 'x', env: { KEY: '${KEY}' } },
    };
    expect(await load(servers, { KEY: 'hush' })).toEqual({
      a: { url: 'http://a', headers: { authorization: 'Bearer hush' } },
      b: { command: 'x', env: { KEY: 'hush' } },
    });
    await expect(load(servers)).rejects.toThrow('mcpServers.a.headers.authorization: the variable KEY is not set');
  });

  it.each([
    ['neither program nor address', {}, ': "command" or "url" is missing'],
    ['arguments without a program', { args: ['hush'] }, ': "command" is missing'],
    ['an environment without a program', { env: { A: 'hush' } }, ': "command" is missing'],
    ['the type of a program alone', { type: 'stdio' }, ': "command" is missing'],
    ['a misspelled program with arguments', { comand: 'x', args: ['hush'] }, ': unknown setting "comand"; did you mean "command"?'], // prettier-ignore
    ['a misspelled program', { cmd: 'x' }, ': unknown setting "cmd"; did you mean "command"?'],
    ['a misspelled address', { URL: 'http://a' }, ': unknown setting "URL"; did you mean "url"?'],
    ['both', { command: 'x', url: 'http://a' }, '.url: not allowed together with "command"'],
    [
      'a program with headers',
      { command: 'x', headers: { a: 'hush' } },
      '.headers: not allowed together with "command"',
    ],
    ['an address with arguments', { url: 'http://a', args: ['hush'] }, '.args: not allowed together with "url"'],
    [
      'an address with an environment',
      { url: 'http://a', env: { A: 'hush' } },
      '.env: not allowed together with "url"',
    ],
    ['a program over HTTP', { type: 'http', command: 'x' }, '.type: "http" is not allowed: it must be one of stdio'],
    [
      'an address over stdio',
      { type: 'stdio', url: 'http://a' },
      '.type: "stdio" is not allowed: it must be one of http, streamable-http, streamableHttp',
    ],
    [
      'the transport of before',
      { type: 'sse', url: 'http://a' },
      '.type: "sse" is not allowed: it must be one of http, streamable-http, streamableHttp',
    ],
    ['a text', 'npx', ': "npx" is not allowed: it must be a mapping'],
    ['no program', { command: '' }, '.command: "" is not allowed: it must NOT have fewer than 1 characters'],
    [
      'arguments in one text',
      { command: 'x', args: '--key hush' },
      '.args: its value is not allowed: it must be a list of strings',
    ],
    [
      'an argument that is no text',
      { command: 'x', args: [5] },
      '.args.0: its value is not allowed: it must be a list of strings',
    ],
    [
      'an invalid environment',
      { command: 'x', env: ['A=hush'] },
      '.env: its value is not allowed: it must be a mapping of names to strings',
    ],
    [
      'a variable that is no text',
      { command: 'x', env: { A: { hush: 1 } } },
      '.env.A: its value is not allowed: it must be a mapping of names to strings',
    ],
    [
      'another protocol',
      { url: 'ftp://hush' },
      '.url: its value is not allowed: it must be an http or https address without user or fragment, such as https://tools.example.com/mcp',
    ],
    [
      'an address with a password',
      { url: 'http://me:hush@a/' },
      '.url: its value is not allowed: it must be an http or https address',
    ],
    [
      'invalid headers',
      { url: 'http://a', headers: 'A: hush' },
      '.headers: its value is not allowed: it must be a mapping of header names',
    ],
    [
      'a header of two lines',
      { url: 'http://a', headers: { a: 'hush\r\nb: c' } },
      '.headers.a: its value is not allowed: it must be a mapping of header names',
    ],
    [
      'a header without a fit name',
      { url: 'http://a', headers: { 'a hush': 'b' } },
      '.headers: its value is not allowed: it must be a mapping of header names',
    ],
    [
      'tools that are no list',
      { command: 'x', tools: 'all' },
      '.tools: "all" is not allowed: it must be a list: ["all"]',
    ],
    [
      'a tool without a name',
      { command: 'x', tools: [''] },
      '.tools.0: "" is not allowed: it must NOT have fewer than 1 characters',
    ],
    ['no time', { command: 'x', timeout: 0 }, '.timeout: 0 is not allowed: it must be > 0'],
    ['too much time', { command: 'x', timeout: 3601 }, '.timeout: 3601 is not allowed: it must be <= 3600'],
    [
      'a time in words',
      { command: 'x', timeout: '5s' },
      '.timeout: "5s" is not allowed: it must be a number, such as `timeout: 1.5`',
    ],
    [
      'what there is not',
      { command: 'x', volume: 11 },
      ': unknown setting "volume"; known: type, command, args, env, url, headers, tools, timeout',
    ],
  ])('refuses %s with its place and what is allowed, and shows no key', async (_what, server, message) => {
    const lines = await refusal(server);
    expect(lines).toHaveLength(1);
    expect(lines[0]!.startsWith(message)).toBe(true);
    expect(lines[0]).not.toContain('hush');
  });

  it.each(['a b', 'a.b', 'ä', 'x'.repeat(33), ''])('refuses the name "%s"', async (name) => {
    await expect(load({ [name]: { command: 'x' } })).rejects.toThrow(
      `mcpServers: "${name}" is not allowed: it must match pattern "^[a-zA-Z0-9_-]{1,32}$"`,
    );
  });

  it('refuses a list', async () => {
    await expect(load([{ command: 'x' }])).rejects.toThrow('mcpServers: a list is not allowed: it must be a mapping');
  });
});

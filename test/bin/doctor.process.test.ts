/** What the doctor says of providers whose models stand in the settings: it asks, but nothing that costs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles, temporaryDirectory } from '../support/temporary.ts';
import { answers, resets, startProvider, type Behavior } from '../support/provider.ts';
import { runScript } from '../support/scripts.ts';

const key = 'sk-very-secret-4711';

/** The behaviors are those of the three providers, which are asked in turn; the last one is that of the others, too. */
async function examine(...behaviors: readonly Behavior[]) {
  const provider = await startProvider();
  provider.behave(...behaviors);
  const { baseUrl } = provider;
  const options = `baseUrl: '${baseUrl}', apiKey: ${key}`;
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, {
    'data/jobs/notes.txt': 'not of the service',
    'parlance.config.yaml': `engines:
      ears: { use: hosted-stt, ${options}, models: [ears] }
      mind: { use: llm-agent, ${options}, models: [mind] }
      mouth: { use: tts, ${options}, models: [mouth] }`,
  });
  const { code, stdout } = await runScript('src/bin/doctor.ts', [], { cwd, env: { DATA_DIR: join(cwd, 'data') } });
  expect(stdout).not.toContain(key);
  const lines = stdout.split('\n').map((line) => line.trim().replace(/ +/g, ' '));
  const found = (name: string) => {
    const line = lines.findIndex((text) => text.includes(`provider ${name}`));
    return { said: lines[line]?.replace(baseUrl, 'URL'), fix: lines[line + 1] };
  };
  const calls = provider.calls.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization}`);
  return { code, calls, verdict: lines.findLast((line) => line !== ''), found, lines, cwd };
}

const names = ['ears', 'mind', 'mouth'];

test('one that answers is asked for its list of models, and for nothing else', async () => {
  const { code, calls, verdict, found } = await examine(answers(200, { data: [{ id: 'ears' }] }));
  for (const name of names) expect(found(name).said).toBe(`ok provider ${name} URL, with a key, answers`);
  expect(calls).toEqual(names.map(() => `GET /v1/models Bearer ${key}`));
  expect({ code, verdict }).toEqual({ code: 0, verdict: 'Transcription works with: ears' });
});

test('foreign files in the directory of the jobs are named', async () => {
  const { lines, cwd } = await examine(answers(200, { data: [] }));
  const at = lines.indexOf(`absent jobs ${cwd}/data/jobs contains foreign files: notes.txt`);
  expect(lines[at + 1]).toBe('fix: move them to another directory');
});

test('one that cannot be reached is missing, and transcribes nothing', async () => {
  const { code, verdict, found } = await examine(resets);
  for (const name of names) {
    const said = `MISSING provider ${name} URL, with a key: The provider is unreachable.`;
    expect(found(name).said).toMatch(new RegExp(`^${said} 127.0.0.1:\\d+ closes the connection: `));
  }
  expect({ code, verdict }).toEqual({ code: 1, verdict: 'Transcription: no model works.' });
});

test('one that refuses the key is missing, and transcribes nothing', async () => {
  const { code, verdict, found } = await examine(answers(401, { error: { message: `${key} is wrong` } }));
  for (const name of names)
    expect(found(name).said).toMatch(/^MISSING .* URL, with a key: The provider rejected the API key/);
  expect({ code, verdict }).toEqual({ code: 1, verdict: 'Transcription: no model works.' });
});

test('another Parlance cannot chat under this path', async () => {
  const entry = { id: 'mind', name: 'mind', engine: 'local', local: true, available: true, code: 'ready', reason: '' };
  const { found } = await examine(answers(200, { data: [entry], default: 'mind' }));
  const said = 'URL, with a key: This is the API of another Parlance; its chat completions are below /v1, not /api/v1.';
  expect(found('mind').said).toBe(`MISSING provider mind ${said}`);
  expect(found('ears').said).toBe('ok provider ears URL, with a key, answers');
});

test('of those without a list it says what it does not know', async () => {
  const { code, verdict, found } = await examine(...[403, 404, 405].map((status) => answers(status, 'No.')));
  const said = 'URL, with a key, answers, but has no list of models: the key could not be checked';
  for (const name of names) expect(found(name).said).toBe(`ok provider ${name} ${said}`);
  expect({ code, verdict }).toEqual({ code: 0, verdict: 'Transcription works with: ears' });
});

test('a model that the provider of a chat does not list is a warning', async () => {
  const list = { data: ['models/mind2', 'ears', 'mouth'].map((id) => ({ id })) };
  const { lines, code } = await examine(answers(200, list));
  const at = lines.indexOf('warning model mind the provider does not list mind');
  expect(lines[at + 1]).toBe('fix: did you mean models/mind2?');
  expect(lines.filter((line) => line.startsWith('warning'))).toHaveLength(1);
  expect(code).toBe(0);
});

describe('the verdict', () => {
  const working = (capability: string) => `
    export default {
      contract: 1, name: 'tiny', capability: '${capability}', options: { type: 'object', properties: {} },
      create: () => ({
        models: [{ id: 'tiny', local: true }],
        transcribe() {}, complete() {}, synthesize() {},
      }),
    };`;

  /** The lines at the end, one for each capability. */
  async function judge(config: string | undefined, env: Readonly<Record<string, string>> = {}) {
    const cwd = await temporaryDirectory();
    const files = Object.fromEntries(['transcription', 'chat', 'speech'].map((name) => [`${name}.mjs`, working(name)]));
    await writeFiles(cwd, { ...files, ...(config !== undefined && { 'parlance.config.yaml': config }) });
    const { code, stdout } = await runScript('src/bin/doctor.ts', [], {
      cwd,
      env: { DATA_DIR: join(cwd, 'data'), ...env },
    });
    return { code, verdicts: stdout.trimEnd().split('\n').slice(-3) };
  }

  test('does not count transcription that is switched off', async () => {
    const config = 'transcribeEnabled: false\nengines: { a: { use: ./transcription.mjs }, b: { use: ./chat.mjs } }';
    expect(await judge(config)).toEqual({
      code: 0,
      verdicts: [
        'Chat works with: tiny',
        'Speech: no engine is configured.',
        'Transcription is switched off (TRANSCRIBE_ENABLED=false).',
      ],
    });
  });

  test('is good for a service that only chats', async () => {
    expect(await judge('engines: { mind: { use: ./chat.mjs } }')).toEqual({
      code: 0,
      verdicts: [
        'Chat works with: tiny',
        'Speech: no engine is configured.',
        'Transcription: no engine is configured.',
      ],
    });
  });

  test('is bad when one of several cannot work', async () => {
    const config =
      'engines: { ear: { use: ./transcription.mjs }, mind: { use: llm-agent, baseUrl: "http://127.0.0.1:9" } }';
    expect(await judge(config)).toEqual({
      code: 1,
      verdicts: ['Chat: no model works.', 'Speech: no engine is configured.', 'Transcription works with: tiny'],
    });
  });

  test('is bad when nothing is configured', async () => {
    expect(await judge('engines: {}')).toMatchObject({ code: 1 });
  });

  test('calls what is optional absent, and lists no engine without a line', async () => {
    const cwd = await temporaryDirectory();
    const own = { PORT: '8484', OPENAI_BASE_URL: 'http://127.0.0.1:8484/v1' };
    const env = { DATA_DIR: join(cwd, 'data'), PATH: '/nowhere', TRANSCRIBE_MODLE: 'x', ...own };
    const { stdout } = await runScript('src/bin/doctor.ts', [], { cwd, env });
    expect(stdout.match(/^Warning: .*$/gm)).toEqual([
      'Warning: unknown variable TRANSCRIBE_MODLE; did you mean TRANSCRIBE_MODEL?',
      'Warning: OPENAI_BASE_URL: ignored, because the URL is that of this service itself (HOST and PORT)',
    ]);
    expect(stdout).toMatch(/absent {2}ffmpeg {7}not found.*\n {10}fix: /);
    expect(stdout).toMatch(/engine ollama\n {2}(absent|ok) /);
    expect(stdout).toMatch(/assets that setup installs \(further models: npm run models\)\n(.*\n)* {2}absent {2}chat /);
    expect(stdout).not.toMatch(/absent {2}(small|es_ES)/);
    expect(stdout).toMatch(/MISSING whisper-cli/);
    const base = /Whisper base\)?, 149 MB, license MIT, missing\n {10}fix: npm run setup\n/g;
    expect(stdout.match(base)).toHaveLength(2);
    expect(stdout).not.toMatch(/license ,/);
    const sandbox = await runScript('src/bin/doctor.ts', [], { cwd, env: { ...env, PARLANCE_SANDBOX: '1' } });
    expect(sandbox.stdout.match(/^engine sandbox\n.*/gm)).toEqual([
      'engine sandbox\n  ok      engine       requires nothing on this machine',
    ]);
  });

  test('counts transcription on a fresh machine, but not the chat servers that may be there', async () => {
    const { code, verdicts } = await judge(undefined, { PATH: '/nowhere' });
    expect(code).toBe(1);
    expect(verdicts.at(-1)).toBe('Transcription: no model works.');
    expect(verdicts[0]).toMatch(/^Chat(:| works)/); // whoever works on this machine may run one
  });
});

describe('the keys file', () => {
  const hash = (digit: number) => String(digit).repeat(64);

  async function examineKeys(keys: string) {
    const cwd = await temporaryDirectory();
    await writeFiles(cwd, {
      'parlance.config.yaml': 'apiKeysFile: keys.yaml\nengines: { sandbox: { use: sandbox } }\n',
      'keys.yaml': keys,
    });
    const { code, stdout } = await runScript('src/bin/doctor.ts', [], { cwd, env: { DATA_DIR: join(cwd, 'data') } });
    const [, part = ''] = /^API keys\n((?: .*\n)+)/m.exec(stdout) ?? [];
    return { code, lines: part.replaceAll(`${cwd}/`, '').trimEnd().split('\n').map((line) => line.trim().replace(/ +/g, ' ')) }; // prettier-ignore
  }

  test('is judged with its expired keys, and those that may use nothing', async () => {
    const { code, lines } = await examineKeys(`keys:
      - { name: app, sha256: '${hash(1)}', expires: 2020-01-01T00:00:00Z }
      - { name: app, sha256: '${hash(2)}', expires: 2999-01-01T00:00:00Z }
      - { name: cron, sha256: '${hash(3)}', models: [gpt-*] }`);
    expect(lines).toEqual([
      'ok keys file keys.yaml: app, cron',
      'MISSING app a token expired at 2020-01-01T00:00:00Z',
      'fix: remove the entry, or make a new token: npm run key -- new app',
      'ok app a token expires at 2999-01-01T00:00:00Z',
      'MISSING cron the key may not use any of the models that are served now',
      expect.stringContaining('fix: change its `models`; served are sandbox-') as string,
    ]);
    expect(code).toBe(0);
  });

  test.each([
    ['without keys', 'keys: []', /^MISSING keys file API_KEYS_FILE: keys.yaml has no keys; fix: /],
    ['that is invalid', 'keys: [{ name: app }]', /^MISSING keys file keys.yaml: keys\[0\]: "sha256" is missing$/],
    ['of expired keys', `keys: [{ name: app, sha256: '${hash(1)}', expires: 2020-01-01T00:00:00Z }]`, /^MISSING keys file keys.yaml: app$/], // prettier-ignore
  ])('one %s fails', async (_what, keys, said) => {
    const { code, lines } = await examineKeys(keys);
    expect(lines[0]).toMatch(said);
    expect(code).toBe(1);
  });
});

describe('the certificate', () => {
  const fixture = (name: string) => join(import.meta.dirname, '../fixtures/tls', name);

  async function examineCertificate(...names: readonly string[]) {
    const cwd = await temporaryDirectory();
    await writeFiles(cwd, { 'cert.pem': names.map((name) => readFileSync(fixture(name), 'utf8')).join('') });
    const env = { PARLANCE_SANDBOX: '1', TLS_CERT: 'cert.pem', TLS_KEY: fixture('localhost-key.pem') };
    return await runScript('src/bin/doctor.ts', [], { cwd, env: { ...env, DATA_DIR: join(cwd, 'data') } });
  }

  test('with another key fails, as at the start', async () => {
    const { code, stderr } = await examineCertificate('certificate.pem');
    expect(stderr).toMatch(/TLS_KEY: \S+ is not the private key of the first certificate in TLS_CERT; fix: /);
    expect(code).toBe(1);
  });

  test('is named with the day on which a part of its chain ends', async () => {
    const { code, stdout } = await examineCertificate('localhost.pem', 'expired-intermediate.pem');
    const line = 'Warning: TLS_CERT: CN=intermediate.test ends on 2021-09-30; fix: renew it, and send SIGHUP to the service'; // prettier-ignore
    expect(stdout.split('\n')).toContain(line);
    expect(code).toBe(0);
  });
});

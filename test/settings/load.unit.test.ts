import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeDoubts, describeIgnoredVariables, describeUnknownVariables } from '../../src/settings/doubts.ts';
import { loadSettings, SettingsError, type Environment, type LoadedSettings } from '../../src/settings/load.ts';
import { compileExplainable } from '../../src/settings/schema-errors.ts';
import { defaultSettings, schemasOfOne, settingsTable, type Settings } from '../../src/settings/table.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'parlance.config.yaml');
});

/** Settings as a start in the folder finds them. */
async function load(env: Environment, yaml?: string) {
  if (yaml !== undefined) await writeFiles(folder, { 'parlance.config.yaml': yaml });
  return loadSettings(env, folder);
}

/** The warnings of a start without variables. */
const doubtsOf = (settings: LoadedSettings) => describeDoubts({ env: {}, settings, hasEngine: () => true, now: 0 });

/** What the start says when it is refused. */
async function refusal(env: Environment, yaml?: string): Promise<string> {
  const outcome = await load(env, yaml).catch((error: unknown) => error);
  if (!(outcome instanceof SettingsError)) throw new Error('the settings were not refused as such', { cause: outcome });
  return outcome.message;
}

type Name = keyof Settings;
const names = Object.keys(settingsTable) as Name[];

/** A text of the variable and its value, of the type of the setting; and the same for the file, if it may be there. */
type Example<N extends Name> = { env: string; fromEnv: Settings[N]; yaml?: string; fromFile?: Settings[N] };

const examples: { readonly [N in Name]: Example<N> } = {
  host: { env: 'localhost', fromEnv: 'localhost', yaml: '127.0.0.2', fromFile: '127.0.0.2' },
  port: { env: '0', fromEnv: 0, yaml: '65535', fromFile: 65535 },
  publicUrl: {
    env: 'https://voice.localhost',
    fromEnv: 'https://voice.localhost',
    yaml: 'http://localhost:1/voice',
    fromFile: 'http://localhost:1/voice',
  },
  sandbox: { env: '1', fromEnv: true, yaml: 'true', fromFile: true },
  compatTools: { env: 'off', fromEnv: false, yaml: 'false', fromFile: false },
  compatItems: { env: 'off', fromEnv: false, yaml: 'false', fromFile: false },
  apiKeysFile: { env: '/etc/keys.yaml', fromEnv: '/etc/keys.yaml', yaml: '/srv/keys.yaml', fromFile: '/srv/keys.yaml' },
  trustProxy: { env: '1', fromEnv: 1, yaml: '2', fromFile: 2 },
  apiKeys: { env: 'one, two,', fromEnv: ['one', 'two'], yaml: '[three]', fromFile: ['three'] },
  allowOpen: { env: 'true', fromEnv: true, yaml: 'true', fromFile: true },
  corsOrigins: {
    env: 'https://a.example,http://localhost:5173',
    fromEnv: ['https://a.example', 'http://localhost:5173'],
    yaml: '["*"]',
    fromFile: ['*'],
  },
  prepare: { env: 'off', fromEnv: false, yaml: 'false', fromFile: false },
  page: { env: 'off', fromEnv: false, yaml: 'false', fromFile: false },
  realtime: { env: 'off', fromEnv: false, yaml: 'false', fromFile: false },
  realtimeSessions: { env: '4', fromEnv: 4, yaml: '100', fromFile: 100 },
  tlsCert: { env: '/a/cert.pem', fromEnv: '/a/cert.pem', yaml: '/b/cert.pem', fromFile: '/b/cert.pem' },
  tlsKey: { env: '/a/key.pem', fromEnv: '/a/key.pem', yaml: '/b/key.pem', fromFile: '/b/key.pem' },
  interimResponses: { env: 'off', fromEnv: 'off', yaml: 'auto', fromFile: 'auto' },
  transcribeEnabled: { env: 'OFF', fromEnv: false, yaml: 'false', fromFile: false },
  transcribeModel: { env: 'large', fromEnv: 'large', yaml: 'small', fromFile: 'small' },
  transcribeSetup: { env: '0', fromEnv: false, yaml: 'false', fromFile: false },
  transcribeMaxSeconds: { env: '1', fromEnv: 1, yaml: '86400', fromFile: 86400 },
  transcribeVad: { env: 'off', fromEnv: 'off' },
  transcribeTimeout: { env: '86400', fromEnv: 86400, yaml: 'auto', fromFile: 'auto' },
  transcribeJobs: { env: 'off', fromEnv: false, yaml: 'false', fromFile: false },
  transcribeJobKeep: { env: '1', fromEnv: 1, yaml: '604800', fromFile: 604_800 },
  transcribeJobMaxMb: { env: '4096', fromEnv: 4096, yaml: '1', fromFile: 1 },
  transcribeJobMaxSeconds: { env: '1', fromEnv: 1, yaml: '86400', fromFile: 86400 },
  whisperCli: { env: '/opt/whisper-cli', fromEnv: '/opt/whisper-cli' },
  chatSetup: { env: 'on', fromEnv: true, yaml: 'true', fromFile: true },
  chatLocalModel: { env: '/models/a.gguf', fromEnv: '/models/a.gguf' },
  voiceSetup: { env: 'on', fromEnv: true, yaml: 'true', fromFile: true },
  voiceModel: { env: '/voices/a.onnx', fromEnv: '/voices/a.onnx' },
  voiceRuntime: { env: '/opt/voice', fromEnv: '/opt/voice' },
  whisperModel: { env: '/models/a.bin', fromEnv: '/models/a.bin' },
  ffmpeg: { env: '/opt/ffmpeg', fromEnv: '/opt/ffmpeg', yaml: './ffmpeg', fromFile: './ffmpeg' },
  chatModel: { env: 'gpt', fromEnv: 'gpt', yaml: 'llama3.2', fromFile: 'llama3.2' },
  ttsModel: { env: 'espeak', fromEnv: 'espeak', yaml: 'tts', fromFile: 'tts' },
  ttsVoice: { env: 'de', fromEnv: 'de', yaml: 'en', fromFile: 'en' },
  logFormat: { env: 'json', fromEnv: 'json', yaml: 'text', fromFile: 'text' },
  logLevel: { env: 'silent', fromEnv: 'silent', yaml: 'debug', fromFile: 'debug' },
  openaiApiKey: { env: 'sk-1', fromEnv: 'sk-1' },
  openaiBaseUrl: { env: 'http://127.0.0.1:8000/v1', fromEnv: 'http://127.0.0.1:8000/v1' },
  dataDir: { env: '/var/voice', fromEnv: '/var/voice', yaml: '/srv/voice', fromFile: '/srv/voice' },
  diskBudget: { env: '1048576', fromEnv: 1_048_576, yaml: '8589934592', fromFile: 8_589_934_592 },
  memoryBudget: { env: '1048576', fromEnv: 1_048_576, yaml: '8589934592', fromFile: 8_589_934_592 },
  readyRequires: {
    env: 'transcription, chat',
    fromEnv: ['transcription', 'chat'],
    yaml: '[speech]',
    fromFile: ['speech'],
  },
  drainDelay: { env: '5', fromEnv: 5, yaml: '3600', fromFile: 3600 },
  shutdownGrace: { env: '0', fromEnv: 0, yaml: '600', fromFile: 600 },
  metricsPort: { env: '9464', fromEnv: 9464, yaml: '0', fromFile: 0 },
  metricsHost: { env: '0.0.0.0', fromEnv: '0.0.0.0', yaml: '"::1"', fromFile: '::1' },
  fleetUrl: {
    env: 'rediss://:word@10.0.0.2:6380/1',
    fromEnv: 'rediss://:word@10.0.0.2:6380/1',
    yaml: 'redis://valkey',
    fromFile: 'redis://valkey',
  },
  fleetRole: { env: 'worker', fromEnv: 'worker', yaml: 'front', fromFile: 'front' },
  fleetAddress: {
    env: 'http://Front-A:8485/',
    fromEnv: 'http://front-a:8485',
    yaml: 'https://10.0.0.5',
    fromFile: 'https://10.0.0.5',
  },
  fleetListen: { env: '0.0.0.0:8485', fromEnv: '0.0.0.0:8485', yaml: '"[::]:1"', fromFile: '[::]:1' },
  fleetSecret: { env: 's'.repeat(32), fromEnv: 's'.repeat(32) },
  fleetPrefix: { env: '{parlance}', fromEnv: '{parlance}', yaml: 'voice', fromFile: 'voice' },
  fleetEngines: { env: 'local, other', fromEnv: ['local', 'other'], yaml: '[local]', fromFile: ['local'] },
};
const namesInFile = names.filter((name) => examples[name].yaml !== undefined);

describe('a setting', () => {
  it('has its default if it is not set', async () => {
    expect(await load({})).toEqual({
      host: '127.0.0.1',
      port: 8484,
      sandbox: false,
      apiKeys: [],
      allowOpen: false,
      corsOrigins: [],
      page: true,
      realtime: true,
      realtimeSessions: 32,
      prepare: true,
      interimResponses: 'auto',
      transcribeEnabled: true,
      transcribeSetup: true,
      chatSetup: false,
      voiceSetup: false,
      transcribeMaxSeconds: 3600,
      transcribeTimeout: 'auto',
      transcribeVad: 'auto',
      transcribeJobs: true,
      transcribeJobKeep: 3600,
      transcribeJobMaxMb: 500,
      transcribeJobMaxSeconds: 14400,
      trustProxy: 0,
      compatTools: true,
      compatItems: true,
      compatAliases: {},
      logFormat: 'auto',
      logLevel: 'info',
      readyRequires: [],
      drainDelay: 0,
      shutdownGrace: 7,
      metricsHost: '127.0.0.1',
      fleetRole: 'both',
      fleetPrefix: 'parlance',
      dataDir: join(homedir(), '.local/share/parlance'),
      dataDirIsNamed: false,
      baseDir: folder,
      mcpServers: {},
      enginesAreListed: false,
      lookedFor: ['ollama', 'llama-cpp', 'llama-server'],
      engines: {
        local: {
          use: 'whisper-cli',
          pulled: true,
          models: [{ id: 'local', file: join(homedir(), '.local/share/parlance/models/ggml-base.bin') }],
        },
        stt: { use: 'sherpa-stt', pulled: true },
        voice: { use: 'sherpa-voice', pulled: true },
        espeak: { use: 'espeak' },
        ollama: { use: 'llm-agent', baseUrl: 'http://127.0.0.1:11434/v1' },
        'llama-cpp': { use: 'llm-agent', baseUrl: 'http://127.0.0.1:8080/v1' },
        'llama-server': { use: 'llm-agent', baseUrl: 'http://127.0.0.1:9931/v1' },
        llama: { use: 'llama-local', pulled: true, models: [{ id: 'local-chat', model: 'qwen3-0.6b' }] },
      },
    });
  });

  it('has a default that is a valid value', () => {
    for (const [name, value] of Object.entries(defaultSettings)) {
      const validate = compileExplainable(schemasOfOne[name]!);
      validate({ [name]: value });
      expect(validate.errors).toBeNull();
    }
    expect(Object.keys(defaultSettings).length).toBeGreaterThan(20);
  });

  it.each(names)('%s comes from its variable', async (name) => {
    const { env, fromEnv } = examples[name];
    expect((await load({ [settingsTable[name].env]: env }))[name]).toEqual(fromEnv);
  });

  it.each(namesInFile)('%s comes from the file, and from its variable if both are set', async (name) => {
    const { env, fromEnv, yaml, fromFile } = examples[name];
    expect((await load({}, `${name}: ${yaml}`))[name]).toEqual(fromFile);
    expect((await load({ [settingsTable[name].env]: env }, `${name}: ${yaml}`))[name]).toEqual(fromEnv);
  });

  it('that is only a variable is rejected in the file', async () => {
    for (const name of names.filter((name) => !namesInFile.includes(name))) {
      expect(await refusal({}, `${name}: x`)).toContain(`unknown setting "${name}"`);
    }
  });

  it('is not set by an empty variable', async () => {
    const empty = Object.fromEntries(names.map((name) => [settingsTable[name].env, '']));
    expect(await load(empty)).toEqual(await load({}));
    expect((await load({ PORT: '' }, 'port: 80')).port).toBe(80);
  });

  it.each(['true', 'on', 'yes', '1', 'False', 'OFF', 'no', '0'])('that is a switch may be written %s', async (word) => {
    const { allowOpen } = await load({ ALLOW_OPEN: word });
    expect(allowOpen).toBe(['true', 'on', 'yes', '1'].includes(word));
  });
});

describe('an address', () => {
  it.each([
    ['https://例え.jp', 'https://xn--r8jz45g.jp'],
    ['https://Voice.Example.com:443//', 'https://voice.example.com'],
    ['http://[::1]:8484/Stimme/für%20alle/', 'http://[::1]:8484/Stimme/f%C3%BCr%20alle'],
  ])('in PUBLIC_URL is normalized: %s', async (text, normalized) => {
    expect((await load({ PUBLIC_URL: text, API_KEYS: 'k' })).publicUrl).toBe(normalized);
    expect((await load({ API_KEYS: 'k' }, `publicUrl: ${text}`)).publicUrl).toBe(normalized);
  });

  it('in CORS_ORIGINS is normalized to the form that browsers send', async () => {
    const { corsOrigins } = await load({ CORS_ORIGINS: 'https://例え.jp,https://App.Example.com:443,http://a:80,*' });
    expect(corsOrigins).toEqual(['https://xn--r8jz45g.jp', 'https://app.example.com', 'http://a', '*']);
  });

  const addresses = ['http://a:99999', 'https://a^b', 'http://1.2.3.999', 'https://user:pass@a.example'];
  it.each(addresses)('that is not a URL or has a user is rejected: %s', async (text) => {
    const says = `${JSON.stringify(text)} is not allowed: it must be`;
    expect(await refusal({ PUBLIC_URL: text })).toBe(
      `PUBLIC_URL: ${says} an http or https address without user or query, such as https://voice.example.com`,
    );
    expect(await refusal({ CORS_ORIGINS: text })).toBe(
      `CORS_ORIGINS: ${says} origins such as https://app.example.com, or *`,
    );
    expect(await refusal({ OPENAI_BASE_URL: text })).toBe(
      `OPENAI_BASE_URL: ${says} an http or https address without user or query, such as https://api.openai.com/v1`,
    );
    expect(await refusal({}, `mcpServers: { a: { url: "${text}" } }`)).toContain('mcpServers.a.url: its value');
  });
});

describe('the settings file', () => {
  it('is parlance.config.yaml in the working directory', async () => {
    expect(await load({}, 'port: 1')).toMatchObject({ port: 1, baseDir: folder });
  });

  it('is the one that PARLANCE_CONFIG names, and paths are relative to it', async () => {
    await writeFiles(folder, { 'parlance.config.yaml': 'port: 1', 'etc/voice.yaml': 'port: 2\ndataDir: ./data' });
    for (const name of ['etc/voice.yaml', join(folder, 'etc/voice.yaml')]) {
      expect(await load({ PARLANCE_CONFIG: name })).toMatchObject({
        port: 2,
        baseDir: join(folder, 'etc'),
        dataDir: join(folder, 'etc/data'),
        dataDirIsNamed: true,
      });
    }
    expect((await load({ PARLANCE_CONFIG: '' })).port).toBe(1);
  });

  it('may be empty or contain only a comment', async () => {
    expect((await load({}, '')).port).toBe(8484);
    expect((await load({}, '# port: 1\n')).port).toBe(8484);
  });

  it('may list the engines, which replace the default ones', async () => {
    const yaml = 'engines:\n  ear: { use: ./ear.js, speed: 3 }\n  mouth: { use: mouth }\n';
    const { engines } = await load({ WHISPER_MODEL: '/models/a.bin' }, yaml);
    expect(engines).toEqual({ ear: { use: './ear.js', speed: 3 }, mouth: { use: 'mouth' } });
    expect(Object.keys(engines)).toEqual(['ear', 'mouth']);
  });

  it('may use aliases', async () => {
    const { engines } = await load({}, 'engines: { a: &a { use: x, models: [m] }, b: *a }');
    expect(engines.b).toEqual({ use: 'x', models: ['m'] });
  });

  it.each([
    ['nowhere.yaml', (path: string) => `there is no file ${path}`],
    ['.', (path: string) => `${path} cannot be read: EISDIR`],
  ])('is named when it cannot be read (%s)', async (name, says) => {
    const message = await refusal({ PARLANCE_CONFIG: name });
    expect(message).toContain(`PARLANCE_CONFIG (--config): ${says(resolve(folder, name))}`);
  });

  it.each([
    [
      'an unfinished list',
      'corsOrigins: [a\nport: 1',
      '2, column 1: the indentation differs from the lines around it, or a bracket is not closed',
    ],
    [
      'a line that is indented too little',
      'engines:\n  b: 1\n c: 2',
      '3, column 1: the indentation differs from the lines around it, or a bracket is not closed',
    ],
    [
      'a mapping in the wrong place',
      'port: 1: 2',
      '1, column 7: a second "key: value" in one value; put a text that contains ": " into quotes',
    ],
    ['a tab for indentation', 'engines:\n\ta: 1', '2, column 1: a tab is used for indentation; use spaces'],
    ['the same key twice', 'port: 1\nport: 2', '2, column 1: duplicate key "port"; remove one of the two'],
    ['two documents', 'port: 1\n---\nport: 2', '2, column 1: a second document (---); only one is allowed'],
    ['a missing colon', 'port\nhost: a', '1, column 1: a key needs a colon on the same line'],
    ['an unfinished text', 'host: "secret', '1, column 14: a quote, bracket, comma or colon is missing'],
    [
      'a reserved character',
      'host: @secret',
      '1, column 7: a text that begins with a reserved character such as @ or ` must be in quotes',
    ],
    ...[
      ['2, column 25', 'engines:\n  a: { use: x, apiKey: ${SECRET} }'],
      ['2, column 46', 'engines:\n  a: { use: x, baseUrl: "http://a", apiKey: ${SECRET} }'],
      ['1, column 16', 'corsOrigins: [${ORIGIN}]'],
    ].map(([place, yaml]) => [
      'a variable without quotes inside of brackets',
      yaml,
      `${place}: inside of { } or [ ], a value with a variable must be in quotes: "\${NAME}"`,
    ]),
  ])('is refused for %s, with the line and what is wrong there', async (_what, yaml, says) => {
    expect(await refusal({}, yaml)).toBe(`${file} is not YAML: line ${says}`);
  });

  it.each(['just text', '- a\n- b', '42'])('is refused when it is no mapping (%j)', async (yaml) => {
    expect(await refusal({}, yaml)).toContain(`${file} is not a mapping of settings`);
  });

  it('is rejected for an alias bomb before it expands', async () => {
    const layers = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    const before = process.threadCpuUsage();
    expect(await refusal({}, ['l0: &l0 [x]', ...layers].join('\n'))).toContain(file);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000, 'ms').toBeLessThan(1000);
  });

  it.each([
    ['an alias of nothing', 'port: *nothing'],
    ['an alias inside of what it stands for', 'corsOrigins: &a [*a]'],
  ])('is refused for %s', async (_what, yaml) => {
    expect(await refusal({}, yaml)).toContain(file);
  });
});

describe('${NAME} in the file', () => {
  it('is replaced by the value of the variable, alone, within text, and in lists and mappings', async () => {
    const env = { MODELS: '/models', HOST_NAME: 'voice', DOMAIN: 'example.com', KEY: 'k-1' };
    const yaml = [
      'publicUrl: https://${HOST_NAME}.${DOMAIN}/',
      'apiKeys: ["${KEY}"]',
      'engines: { ear: { use: ./ear.js, models: [{ file: "${MODELS}/a.bin" }], apiKey: "${KEY}" } }',
    ].join('\n');
    const { publicUrl, apiKeys, engines } = await load(env, yaml);
    expect(publicUrl).toBe('https://voice.example.com');
    expect(apiKeys).toEqual(['k-1']);
    expect(engines.ear).toEqual({ use: './ear.js', models: [{ file: '/models/a.bin' }], apiKey: 'k-1' });
  });

  it('is not expanded again in a value', async () => {
    expect((await load({ A: '${B}' }, 'ttsVoice: ${A}')).ttsVoice).toBe('${B}');
  });

  it('is kept if it is not a valid name', async () => {
    expect((await load({}, 'ttsVoice: "$A ${a-b} ${}"')).ttsVoice).toBe('$A ${a-b} ${}');
  });

  it.each([
    ['unset', {}],
    ['empty', { NOPE: '', NADA: '' }],
  ])('stops the start when its variable is %s, with path, place and variable of each', async (_what, env) => {
    const yaml = 'ttsVoice: ${NOPE}\nengines: { ear: { use: x, models: [a, { file: "${NADA}/x" }] } }';
    expect((await refusal(env, yaml)).split('\n')).toEqual([
      `${file}: ttsVoice: the variable NOPE is not set`,
      `${file}: engines.ear.models[1].file: the variable NADA is not set`,
    ]);
  });

  it('is "" in an `apiKey`, so that the engine is listed without a key', async () => {
    const yaml = 'engines: { a: { use: x, apiKey: "${NOPE}" }, b: { use: x, models: [{ apiKey: "${NOPE}" }] } }';
    const settings = await load({}, yaml);
    expect(settings.engines).toEqual({ a: { use: 'x', apiKey: '' }, b: { use: 'x', models: [{ apiKey: '' }] } });
    expect(doubtsOf(settings)).toEqual([
      `${file}: engines.a.apiKey: the variable NOPE is not set`,
      `${file}: engines.b.models[0].apiKey: the variable NOPE is not set`,
    ]);
  });

  it('prevents the start in an option whose name only resembles `apiKey`', async () => {
    expect(await refusal({}, 'apiKeys: ["${NOPE}"]')).toContain('apiKeys[0]: the variable NOPE is not set');
    expect(await refusal({}, 'engines: { a: { use: x, myapiKey: "${NOPE}" } }')).toContain('NOPE is not set');
  });
});

describe('a wrong value', () => {
  const port = 'must be an integer from 0 to 65535';
  const count = 'must be an integer from 1 to 86400';
  const wrong = (
    [
      ['PORT', 'port', '65536', '65536', port],
      ['PORT', 'port', '-1', '-1', port],
      ['PORT', 'port', 'http', '"http"', port],
      ['TRANSCRIBE_TIMEOUT', 'transcribeTimeout', '1.5', '1.5', `${count}, or auto`, '"1.5"'],
      ['TRANSCRIBE_TIMEOUT', 'transcribeTimeout', '86401', '86401', `${count}, or auto`],
      ['TRANSCRIBE_TIMEOUT', 'transcribeTimeout', 'never', '"never"', `${count}, or auto`],
      ['INTERIM_RESPONSES', 'interimResponses', 'on', '"on"', 'must be one of auto, off'],
      ['TRANSCRIBE_MAX_SECONDS', 'transcribeMaxSeconds', '0', '0', count],
      ['TRANSCRIBE_JOB_KEEP', 'transcribeJobKeep', '604801', '604801', 'must be an integer from 1 to 604800'],
      ['TRANSCRIBE_JOB_MAX_MB', 'transcribeJobMaxMb', '4097', '4097', 'must be an integer from 1 to 4096'],
      ['DISK_BUDGET', 'diskBudget', '4GiB', '"4GiB"', 'must be an integer of at least 1048576 (bytes)'],
      ['ALLOW_OPEN', 'allowOpen', 'maybe', '"maybe"', 'must be true or false'],
      ['TRANSCRIBE_SETUP', 'transcribeSetup', '2', '2', 'must be true or', '"2"'],
      ['PUBLIC_URL', 'publicUrl', 'a.example', '"a.example"', 'must be an http or https'],
      ['PUBLIC_URL', 'publicUrl', 'ftp://a', '"ftp://a"', 'must be an http or https'],
      ['LOG_LEVEL', 'logLevel', 'loud', '"loud"', 'must be one of debug, info, warn'],
    ] as const
  ).map(([env, name, text, shown, allowed, inEnv]) => ({ env, name, text, shown, allowed, inEnv: inEnv ?? shown }));

  it.each(wrong)('in $env ($text) is reported with the value and the allowed values', async (row) => {
    const message = await refusal({ [row.env]: row.text });
    expect(message).toContain(`${row.env}: ${row.inEnv} is not allowed: it ${row.allowed}`);
    expect(message).not.toContain('\n');
  });

  it.each(wrong)('of $name in the file ($text) is reported with the value and the allowed values', async (row) => {
    const message = await refusal({}, `${row.name}: ${row.text}`);
    expect(message).toContain(`${row.env} (in the file: ${row.name}): ${row.shown} is not allowed: it ${row.allowed}`);
    expect(message).not.toContain('\n');
  });

  it('that Kubernetes sets for a Service is reported with this cause', async () => {
    const cause = 'Kubernetes sets it for a Service named "metrics": set enableServiceLinks: false in the pod';
    expect(await refusal({ METRICS_PORT: 'tcp://10.96.0.17:9464' })).toBe(
      `METRICS_PORT: "tcp://10.96.0.17:9464" is not allowed: it must be an integer from 0 to 65535; ${cause}, or METRICS_PORT to a port`,
    );
    expect(await refusal({ METRICS_PORT: 'http' })).not.toContain('Kubernetes');
  });

  it('in a list is reported with its location', async () => {
    const message = await refusal({}, 'corsOrigins: ["https://a.example", "a.example"]');
    expect(message).toContain('corsOrigins.1): "a.example" is not allowed: it must be origins such as');
  });

  it.each([
    ['host: 5', 'host): 5 is not allowed: it must be a string; put quotes around it: `host: "5"`'],
    [
      'chatModel: 1.10',
      'chatModel): 1.1 is not allowed: it must be a string; put quotes around it: `chatModel: "..."`',
    ],
    [
      'apiKeys: [12345]',
      'its value is not allowed: it must be one or more tokens of printable ASCII without spaces, comma-separated; put quotes around it: `"..."`',
    ],
    ['logLevel: 5', 'logLevel): 5 is not allowed: it must be one of debug, info, warn, error, silent'],
    ['host: [a]', 'host): a list is not allowed'],
    ['port: { a: 1 }', 'port): a mapping is not allowed'],
    ['allowOpen: "true"', 'allowOpen): "true" is not allowed: it must be true or false'],
    ['host:', 'host): an empty value is not allowed: it must be a string'],
    ['engines: [a]', 'engines: a list is not allowed: it must be a mapping, such as `engines: { NAME: { use: ... } }`'],
    [
      'engines: { ear: whisper }',
      'engines.ear: "whisper" is not allowed: it must be a mapping or a list, such as `ear: { use: ... }`',
    ],
    ['engines: { ear: {} }', 'engines.ear: "use" is missing'],
    ['engines: { ear: [] }', 'engines.ear: a list is not allowed: it must NOT have fewer than 1 items'],
    ['engines: { ear: [{ use: x }, {}] }', 'engines.ear.1: "use" is missing'],
    [
      'engines: { ear: { use: 5 } }',
      'engines.ear.use: 5 is not allowed: it must be a string; put quotes around it: `use: "5"`',
    ],
    ['engines: { My Ear: { use: x } }', 'engines: "My Ear" is not allowed: it must match pattern'],
  ])('of a wrong type is refused: %s', async (yaml, says) => {
    expect(await refusal({}, yaml)).toContain(says);
  });

  it('of an unknown setting is rejected with the known settings', async () => {
    const message = await refusal({}, 'volume: 11');
    expect(message).not.toContain('\n');
    expect(message).toContain(`${file}: unknown setting "volume"; known: host, port, `);
    const known = /known: (.*)$/.exec(message)?.[1]?.split(', ');
    expect(known?.sort()).toEqual([...namesInFile, 'compatAliases', 'engines', 'mcpServers'].sort());
  });

  it.each([
    ['prot: 80', 'prot', 'port'],
    ['transcribeModle: a', 'transcribeModle', 'transcribeModel'],
    ['TRANSCRIBE_MODEL: a', 'TRANSCRIBE_MODEL', 'transcribeModel'],
    ['mcp_servers: {}', 'mcp_servers', 'mcpServers'],
  ])('under a misspelled name is refused with the right one: %s', async (yaml, wrong, meant) => {
    expect(await refusal({}, yaml)).toBe(`${file}: unknown setting "${wrong}"; did you mean "${meant}"?`);
  });

  it('is reported together with all others', async () => {
    const message = await refusal({ PORT: 'x' }, 'host: 5\nprot: 1\nlogLevel: loud\nengines: { a: {} }');
    const lines = message.split('\n');
    for (const what of ['PORT', 'HOST', '"prot"', 'LOG_LEVEL', 'engines.a']) {
      expect(lines.filter((line) => line.includes(what))).toHaveLength(1);
    }
    expect(lines).toHaveLength(5);
  });

  it.each([
    ['HOST in open mode', { HOST: '0.0.0.0' }, ''],
    ['host in open mode', {}, 'host: 0.0.0.0'],
    ['a name in open mode', { HOST: 'voice.example.com' }, ''],
    ['PUBLIC_URL in open mode', { PUBLIC_URL: 'https://voice.example.com' }, ''],
    ['publicUrl in open mode', {}, 'publicUrl: http://192.168.1.10:8484/voice'],
  ])('that opens the service to strangers is refused: %s', async (_what, env, yaml) => {
    expect(await refusal(env, yaml)).toMatch(
      /^(HOST.*: "[\w.]+" is not allowed: .*loopback|PUBLIC_URL: "http.*" is not allowed: .*proxy).*API_KEYS.*ALLOW_OPEN/s,
    );
  });

  it.each([
    ['keys', { API_KEYS: 'k' }],
    ['leave', { ALLOW_OPEN: 'true' }],
    ['the role of a worker, which does not listen there', { FLEET_ROLE: 'worker' }],
  ])('that opens the service is taken with %s', async (_what, env) => {
    const settings = await load({ HOST: '0.0.0.0', PUBLIC_URL: 'https://voice.example.com', ...env });
    expect(settings).toMatchObject({ host: '0.0.0.0', publicUrl: 'https://voice.example.com' });
  });
});

describe('a proxy variable', () => {
  it.each([
    ['HTTPS_PROXY', 'ftp://user:hush@proxy.example.com'],
    ['HTTP_PROXY', 'http://user:hush@:3128'],
    ['http_proxy', 'http://user:hush%zz@proxy.example.com'],
    ['https_proxy', 'socks5://user:hush@proxy.example.com'],
  ])('%s that is not the address of a proxy stops the start, without its value', async (name, value) => {
    expect(await refusal({ [name]: value })).toBe(
      `${name}: its value is not allowed: it must be an http or https address such as http://proxy.example.com:3128`,
    );
  });

  it.each(['http://user:hush@proxy.example.com:3128', 'https://proxy.example.com/', 'proxy.example.com:3128', ''])(
    'may be "%s"',
    async (value) => {
      await expect(load({ HTTPS_PROXY: value, HTTP_PROXY: value, NO_PROXY: 'example.com,*' })).resolves.toBeDefined();
    },
  );
});

describe('no message shows a secret', () => {
  it.each([
    ['a key with a space in the variable', { API_KEYS: 'good,hush hush' }, ''],
    ['a key that is no text', {}, 'apiKeys: [{ hush: 1 }, hush hush]'],
    ['keys that are no list', {}, 'apiKeys: hush'],
    ['keys as a mapping', {}, 'apiKeys: { a: hush }'],
    ['YAML that breaks at a key', {}, 'apiKeys:\n  - hush: : x\n'],
    ['YAML that breaks behind a key', {}, 'apiKeys: [hush\nport: 1\n'],
    ['YAML that breaks at the key of a provider', {}, 'engines: { a: { use: x, apiKey: hush } } }'],
  ])('not for %s', async (_what, env, yaml) => {
    expect(await refusal(env, yaml)).not.toContain('hush');
  });
});

describe('a variable', () => {
  it('that resembles a setting is reported with the likely one', () => {
    const env = {
      TRANSCRIBE_MODLE: 'x',
      PARLANCE_VOLUME: '11',
      TRANSCRIBE_MODEL: 'x',
      PARLANCE_CONFIG: 'y',
      PATH: '/',
    };
    expect(describeUnknownVariables(env)).toEqual([
      'unknown variable TRANSCRIBE_MODLE; did you mean TRANSCRIBE_MODEL?',
      'unknown variable PARLANCE_VOLUME',
    ]);
  });

  it.each([
    ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
    ['OPENAI_KEY', 'OPENAI_API_KEY'],
    ['OPENAI_BASEURL', 'OPENAI_BASE_URL'],
    ['OPENAI_URL', 'OPENAI_BASE_URL'],
  ])('%s is a misspelling', (wrong, meant) => {
    expect(describeUnknownVariables({ [wrong]: 'x' })).toEqual([`unknown variable ${wrong}; did you mean ${meant}?`]);
  });

  it('of another program of OpenAI is ignored', () => {
    const others = ['OPENAI_ORG_ID', 'OPENAI_PROJECT_ID', 'OPENAI_LOG', 'OPENAI_MODEL', 'OPENAI_WEBHOOK_SECRET'];
    expect(describeUnknownVariables(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([]);
  });
});

describe('a provider that is the service itself', () => {
  const config = (baseUrl: string) => `engines: { cloud: { use: llm-agent, baseUrl: "${baseUrl}" } }`;
  const says = (place: string, own: string) =>
    `${file}: engines.${place}.baseUrl: the URL is that of this service itself (${own}); set it to that of a provider`;

  it('prevents the start, with the name of the setting', async () => {
    expect(await refusal({}, config('http://localhost:8484/v1'))).toBe(says('cloud', 'HOST and PORT'));
    const env = { PORT: '9000', HOST: '0.0.0.0', API_KEYS: 'k', PUBLIC_URL: 'https://voice.example.com' };
    const list = `engines:
      a: [{ use: hosted-stt, baseUrl: "http://127.0.0.1:8484" }, { use: tts, baseUrl: "https://voice.example.com/api/v1" }]
      b: { use: ./own.js, baseUrl: "http://127.0.0.1:9000" }
      c: { use: ./own.js, baseUrl: 7 }`;
    expect(await refusal(env, list)).toBe(`${says('a[1]', 'PUBLIC_URL')}\n${says('b', 'HOST and PORT')}`);
    await expect(load({}, config('http://127.0.0.1:8000/v1'))).resolves.toBeDefined();
  });

  it('is found behind a variable in the file', async () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:8484/v1' };
    expect(await refusal(env, config('${OPENAI_BASE_URL}'))).toBe(says('cloud', 'HOST and PORT'));
  });

  it('is ignored in OPENAI_BASE_URL, together with the key, which is one of the service', async () => {
    const env = {
      OPENAI_BASE_URL: 'http://127.0.0.1:8484/v1',
      OPENAI_API_KEY: 'ours',
      CHAT_MODEL: 'x',
      TTS_MODEL: 'y',
    };
    const settings = await load(env);
    const servers = ['ollama', 'llama-cpp', 'llama-server'];
    expect(Object.keys(settings.engines)).toEqual(['local', 'stt', 'voice', 'espeak', ...servers, 'llama']);
    expect(JSON.stringify(settings.engines)).not.toContain('ours');
    const ignored = 'ignored, because the URL is that of this service itself (HOST and PORT)';
    expect(describeIgnoredVariables(settings)).toEqual([`OPENAI_BASE_URL and OPENAI_API_KEY: ${ignored}`]);
    const { OPENAI_BASE_URL } = env;
    expect(describeIgnoredVariables(await load({ OPENAI_BASE_URL }))).toEqual([`OPENAI_BASE_URL: ${ignored}`]);
  });

  it.each([
    ['the variable is not set', {}, ''],
    ['the provider is another service', { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1' }, ''],
    ['the file lists the engines', { OPENAI_BASE_URL: 'http://127.0.0.1:8484/v1' }, 'engines: { e: { use: espeak } }'],
    ['in sandbox mode', { OPENAI_BASE_URL: 'http://127.0.0.1:8484/v1', PARLANCE_SANDBOX: '1' }, ''],
  ])('is not mentioned when %s', async (_what, env, yaml) => {
    expect(describeIgnoredVariables(await load(env, yaml))).toEqual([]);
  });

  it.each<[apiKeys: string, place: string]>([
    ['hush-hush', 'API_KEYS: the token'],
    [`${'x'.repeat(20)},hush-hush`, 'API_KEYS: token 2'],
  ])('warns of tokens that can be guessed: %s', async (API_KEYS, place) => {
    expect(doubtsOf(await load({ API_KEYS }))).toEqual([
      `${place} has fewer than 20 characters and may be guessed; fix: openssl rand -hex 32`,
    ]);
  });

  it('takes a keys file for access control', async () => {
    expect((await load({ HOST: '0.0.0.0', API_KEYS_FILE: 'keys.yaml' })).apiKeysFile).toMatch(/^\/.+\/keys.yaml$/);
  });

  it('CHAT_LOCAL_MODEL is the file of local-chat, and CHAT_MODEL may name it', async () => {
    const { engines } = await load({ CHAT_LOCAL_MODEL: '/models/a.gguf', CHAT_MODEL: 'local-chat' });
    expect(engines.llama).toEqual({
      use: 'llama-local',
      pulled: true,
      models: [{ id: 'local-chat', file: '/models/a.gguf' }],
    });
    expect(engines.ollama).not.toHaveProperty('models');
  });

  it('is not searched among the chat servers of this machine', async () => {
    const serversOf = async (PORT: string) =>
      Object.keys((await load({ PORT })).engines).filter((name) => /^(ollama|llama-.*)$/.test(name));
    expect(await serversOf('8080')).toEqual(['ollama', 'llama-server']);
    expect(await serversOf('9931')).toEqual(['ollama', 'llama-cpp']);
    const settings = await load({ PORT: '11434', CHAT_MODEL: 'gemma' });
    expect(settings.engines).toMatchObject({ 'llama-cpp': { models: ['gemma'], discover: true } });
    expect(settings.engines).not.toHaveProperty('ollama');
  });
});

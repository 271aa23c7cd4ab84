/** The warnings of the start and the doctor. */
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Capability } from '../../engines/contract/index.ts';
import { openAiAudioModels } from '../../lib/openai-audio-models.ts';
import { describeDoubts } from '../../src/settings/doubts.ts';
import { loadSettings, type Environment } from '../../src/settings/load.ts';
import { settingsTable } from '../../src/settings/table.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'parlance.config.yaml');
});

interface Start {
  readonly env?: Environment;
  readonly yaml?: string;
  readonly capabilities?: readonly Capability[];
  /** The day of the start. */
  readonly day?: string;
}

async function doubtsOf({ env = {}, yaml, capabilities = [], day = '2026-11-26' }: Start): Promise<string[]> {
  if (yaml !== undefined) await writeFiles(folder, { 'parlance.config.yaml': yaml });
  const hasEngine = (capability: Capability) => capabilities.includes(capability);
  return describeDoubts({ env, settings: loadSettings(env, folder), hasEngine, now: Date.parse(`${day}T12:00:00Z`) });
}

describe('a variable that the engines in the file replace', () => {
  const yaml = 'engines: { ear: { use: ./ear.js } }';
  const values: Environment = {
    WHISPER_CLI: '/opt/whisper-cli',
    WHISPER_MODEL: '/models/a.bin',
    TRANSCRIBE_VAD: 'off',
    TRANSCRIBE_MODEL: 'large',
    VOICE_SETUP: 'on',
    VOICE_MODEL: '/voices/a.onnx',
    VOICE_RUNTIME: '/opt/voice',
    CHAT_SETUP: 'on',
    CHAT_LOCAL_MODEL: '/models/a.gguf',
    CHAT_MODEL: 'llama3.2',
    TTS_MODEL: 'espeak',
    TTS_VOICE: 'de',
    OPENAI_API_KEY: 'sk-hush',
    OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1',
  };
  const instead = (variable: string) =>
    Object.values(settingsTable).find(({ env }) => env === variable)?.withEngines?.instead;

  it.each(Object.keys(values))('is named with what to write instead: %s', async (name) => {
    const env = { [name]: values[name] };
    expect(await doubtsOf({ env })).toEqual([]);
    expect(await doubtsOf({ env, yaml: 'port: 1' })).toEqual([]);
    expect(await doubtsOf({ env, yaml })).toEqual([
      `${name}: no effect on the engines that ${file} lists; write there instead: ${name}: ${instead(name)}`,
    ]);
  });

  it('is named together with all others, in one line without values', async () => {
    const doubts = await doubtsOf({ env: values, yaml });
    expect(doubts).toHaveLength(1);
    for (const name of Object.keys(values)) expect(doubts[0]).toContain(name);
    expect(doubts[0]).not.toContain('hush');
  });

  it.each<{ name: string; yaml: string }>([
    { name: 'OPENAI_API_KEY', yaml: 'engines: { a: { use: tts, apiKey: "${OPENAI_API_KEY}" } }' },
    { name: 'WHISPER_MODEL', yaml: 'engines: { a: { use: whisper-cli, models: [{ file: "${WHISPER_MODEL}" }] } }' },
    { name: 'WHISPER_CLI', yaml: 'engines: { a: [{ use: tts }, { use: whisper-cli }] }' },
    { name: 'VOICE_RUNTIME', yaml: 'engines: { a: { use: sherpa-stt } }' },
    { name: 'CHAT_SETUP', yaml: 'engines: { a: { use: llama-local } }' },
  ])('is not named if the file uses it: $name', async ({ name, yaml }) => {
    expect(await doubtsOf({ env: { [name]: values[name] }, yaml })).toEqual([]);
  });

  it.each<{ name: string; capability: Capability }>([
    { name: 'TRANSCRIBE_MODEL', capability: 'transcription' },
    { name: 'CHAT_MODEL', capability: 'chat' },
    { name: 'TTS_MODEL', capability: 'speech' },
    { name: 'TTS_VOICE', capability: 'speech' },
  ])('is not named if it chooses among listed engines: $name', async ({ name, capability }) => {
    expect(await doubtsOf({ env: { [name]: values[name] }, yaml, capabilities: [capability] })).toEqual([]);
  });

  it('is named if an option of the instance takes precedence', async () => {
    const listed = 'engines: { ear: { use: whisper-cli, program: /bin/whisper-cli } }';
    expect(await doubtsOf({ env: { WHISPER_CLI: '/opt/whisper-cli' }, yaml: listed })).toHaveLength(1);
  });
});

describe('a model that OpenAI ends', () => {
  const key = { OPENAI_API_KEY: 'sk-1' };
  const toTranscribe = 'TRANSCRIBE_MODEL: OpenAI ends the model whisper-1 on 2027-02-26; use gpt-transcribe instead';

  it('is named with its date and its successor', async () => {
    const env = { ...key, TRANSCRIBE_MODEL: 'whisper-1', TTS_MODEL: 'tts-1-hd' };
    expect(await doubtsOf({ env })).toEqual([
      toTranscribe,
      'TTS_MODEL: OpenAI ends the model tts-1-hd on 2027-01-06; it has announced no successor',
    ]);
  });

  it('is named with its place in the file, by the id that OpenAI receives', async () => {
    const provider = 'baseUrl: "https://eu.api.openai.com/v1", apiKey: k';
    const yaml = `engines:
      a: { use: hosted-stt, ${provider}, models: [{ id: mine, remoteId: gpt-4o-mini-transcribe-2025-12-15 }] }
      b: [{ use: llm-agent, ${provider}, models: [whisper-1] }, { use: tts, ${provider}, models: [tts-1, tts-3] }]`;
    expect(await doubtsOf({ yaml })).toEqual([
      `${file}: engines.a.models: OpenAI ends the model gpt-4o-mini-transcribe-2025-12-15 on 2027-02-26; use gpt-transcribe instead`,
      `${file}: engines.b[1].models: OpenAI ends the model tts-1 on 2027-01-06; it has announced no successor`,
    ]);
  });

  it.each([
    ['2027-02-26', toTranscribe],
    ['2027-02-27', toTranscribe.replace('ends', 'ended')],
  ])('is named as ended after its date (%s)', async (day, line) => {
    expect(await doubtsOf({ env: { ...key, TRANSCRIBE_MODEL: 'whisper-1' }, day })).toEqual([line]);
  });

  it.each<{ what: string; env: Environment }>([
    { what: 'another provider serves it', env: { ...key, OPENAI_BASE_URL: 'https://api.example.com/v1' } },
    { what: 'there is no provider', env: {} },
    { what: 'the model stays', env: { ...key, TRANSCRIBE_MODEL: 'gpt-transcribe' } },
  ])('is not named if $what', async ({ env }) => {
    expect(await doubtsOf({ env: { TRANSCRIBE_MODEL: 'whisper-1', ...env } })).toEqual([]);
  });

  it('has a successor that stays', () => {
    const successors = openAiAudioModels.flatMap(({ successor }) => successor ?? []);
    const staying = openAiAudioModels.filter(({ ends }) => ends === undefined).map(({ id }) => id);
    expect(successors.filter((id) => !staying.includes(id))).toEqual([]);
    expect(successors).not.toEqual([]);
  });
});

describe('a service that needs no key', () => {
  const misspelled = 'API_KEY: unknown variable, and requests need no API key; fix: did you mean API_KEYS?';
  const empty =
    'API_KEYS: it contains no token, and requests need no API key; fix: set it to that of openssl rand -hex 32, or unset it';

  it.each<{ env: Environment; lines: readonly string[] }>([
    { env: { API_KEY: 'a-token-of-twenty-characters' }, lines: [misspelled] },
    { env: { API_KEYS: '' }, lines: [empty] },
    { env: { API_KEYS: ' , ', API_KEY: 'x' }, lines: [misspelled, empty] },
    { env: { API_KEY: '' }, lines: [] },
    { env: { API_KEYS: 'a-token-of-twenty-characters', API_KEY: 'x' }, lines: [] },
    { env: { API_KEYS: '', API_KEY: 'x', API_KEYS_FILE: 'keys.yaml' }, lines: [] },
  ])('is named if a variable looks like a key: $env', async ({ env, lines }) => {
    expect(await doubtsOf({ env })).toEqual(lines);
  });
});

describe('a token of API_KEYS', () => {
  const token = 'a-token-of-twenty-characters';
  const line = expect.stringMatching(/^API_KEYS: web pages cannot open a WebSocket with a token /) as string;

  it.each([
    ['', []],
    ['/', [line]],
    ['=', [line]],
    [':', [line]],
  ])('that ends in "%s" can be a subprotocol, or is named', async (end, lines) => {
    expect(await doubtsOf({ env: { API_KEYS: `other-token-of-the-same,${token}${end}` } })).toEqual(lines);
    expect(await doubtsOf({ env: { API_KEYS: `${token}${end}`, REALTIME: 'off' } })).toEqual([]);
  });
});

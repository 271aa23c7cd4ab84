import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import type { Container } from '../engines/contract.ts';
import { mediaTypes } from '../src/audio/sniff.ts';
import { runChecks, type Check } from '../src/conformance/kit.ts';
import { transcriptionChecks, type Sound, type TranscriptionSubject } from '../src/conformance/transcription.ts';
import { openEngines } from '../src/engines.ts';
import { loadSettings } from '../src/settings/load.ts';
import { describeWith, requireProgram } from './support/programs.ts';
import { writeFiles } from './support/temporary.ts';
import { speechSeconds, toneWav, writeToneModel } from './support/tone-model.ts';

const home = resolve(import.meta.dirname, '..');

let directory: string;
/** What else ends when the tests end. */
const ending: (() => void)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parlance-conformance-'));
});
afterAll(async () => {
  for (const end of ending) end();
  await rm(directory, { recursive: true, force: true });
});

const speech = { words: ['alpha', 'bravo', 'charlie', 'delta'], rate: 16_000 } as const;
const silence = { words: [], rate: 16_000 } as const;

/** Random bytes behind the first bytes of a webm. */
const nonsense = Buffer.concat([
  Buffer.from('1a45dfa3', 'hex'),
  Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251)),
]);

const sounds: Readonly<Record<Sound, { content: Buffer; container: Container; durationMs: number }>> = {
  words: { content: toneWav(speech), container: 'wav', durationMs: speechSeconds(speech) * 1000 },
  silence: { content: toneWav(silence), container: 'wav', durationMs: speechSeconds(silence) * 1000 },
  nonsense: { content: nonsense, container: 'webm', durationMs: 0 },
};

async function record(sound: Sound) {
  const { content, container, durationMs } = sounds[sound];
  const own = await mkdtemp(join(directory, 'recording-'));
  const path = join(own, 'recording');
  await writeFile(path, content);
  const mediaType = mediaTypes[container];
  const remove = () => rm(own, { recursive: true });
  return { path, bytes: content.length, container, mediaType, durationMs, [Symbol.asyncDispose]: remove };
}

/** An engine as the settings would bring it in. */
function subjectOf(use: string, options: Readonly<Record<string, unknown>>): TranscriptionSubject {
  return {
    options,
    record,
    open: async (options) => {
      const dataDir = await mkdtemp(join(directory, 'data-'));
      await writeFiles(dataDir, { 'settings.yaml': { engines: { subject: { use, ...options } } } });
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, PARLANCE_CONFIG: join(dataDir, 'settings.yaml'), DATA_DIR: dataDir };
      const engines = await openEngines(loadSettings(env), env, pino({ level: 'silent' }));
      return {
        registry: engines.registry,
        leftovers: () => readdir(engines.workspace.path),
        [Symbol.asyncDispose]: () => engines[Symbol.asyncDispose](),
      };
    },
  };
}

/** Every built-in engine, as it works here. */
const builtIns: Readonly<Record<string, { needs: readonly string[]; start: () => Promise<TranscriptionSubject> }>> = {
  'whisper-cli': {
    needs: ['whisper-cli'],
    start: async () => {
      const file = join(directory, 'tones.bin');
      await writeToneModel(file);
      const program = requireProgram('whisper-cli');
      return subjectOf('whisper-cli', { program, models: [{ id: 'tones', file }], slots: 1, threads: 1 });
    },
  },
  'hosted-stt': {
    needs: [],
    start: async () => {
      const baseUrl = await startProvider();
      return subjectOf('hosted-stt', { baseUrl, apiKey: 'sk-test', models: [{ id: 'ears', languages: ['en'] }] });
    },
  },
};

/** A provider of transcription that takes any sound in a WAV file for words. It ends with the tests. */
async function startProvider(): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    await sleep(100);
    const wavAt = body.indexOf('RIFF');
    response.setHeader('content-type', 'application/json');
    if (wavAt < 0) {
      response.writeHead(400).end('{"error":{"message":"Invalid file format.","type":"invalid_request_error"}}');
      return;
    }
    const samples = body.subarray(wavAt + 44, wavAt + 44 + body.readUInt32LE(wavAt + 40));
    const { durationMs } = samples.some((byte) => byte !== 0) ? sounds.words : sounds.silence;
    const text = durationMs === sounds.words.durationMs ? 'alpha' : '';
    response.end(JSON.stringify({ text, language: 'english', duration: durationMs / 1000 }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy()); // the caller has left
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ending.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const engines = readdirSync(join(home, 'engines')).filter((name) =>
  existsSync(join(home, 'engines', name, 'index.ts')),
);

it.each(engines)('the built-in engine %s is checked', (name) => {
  expect(Object.keys(builtIns)).toContain(name);
});

for (const [name, { needs, start }] of Object.entries(builtIns).filter(([name]) => engines.includes(name))) {
  describeWith(needs, name, () => {
    let subject: TranscriptionSubject;
    beforeAll(async () => {
      subject = await start();
    });
    it.each(transcriptionChecks)('$name', async ({ run }) => run(subject));
  });
}

// ------------------------------------------------------------------------------------------- the kit itself

/** Hears any sound as words. Keeps every rule. */
const good = `
  import { readFile, writeFile } from 'node:fs/promises';
  import { setTimeout as sleep } from 'node:timers/promises';
  class EngineError extends Error {
    constructor(code, message) { super(message); this.code = code; this[Symbol.for('parlance.engine-error')] = true; }
  }
  export const parts = {
    options: { type: 'object', additionalProperties: false, properties: { volume: { type: 'string' } } },
    models: async () => [{ id: 'ears', local: true }],
    availability: async () => ({ available: true, code: 'ready', reason: 'Ready.' }),
    refuse: ({ model, language = 'en' }) => {
      if (model !== 'ears') throw new EngineError('unknown-model', 'There is no such model.');
      if (language !== 'en') throw new EngineError('language-not-supported', 'It knows English only.');
    },
    decode: (context, recording, { signal }) => context.decode(recording, { signal }),
    work: async (context, wavPath, { signal }) => {
      await using directory = await context.temporaryDirectory();
      await writeFile(directory.path + '/notes', 'of the work');
      await sleep(150, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    hear: (wav, durationMs) => wav.subarray(44).some((byte) => byte !== 0)
      ? { text: 'alpha', language: 'en', durationMs }
      : { text: '', language: null, durationMs },
  };
  export const engineOf = ({ options, models, availability, refuse, decode, work, hear }) => ({
    contract: 1,
    name: 'ears',
    capability: 'transcription',
    options,
    create: (_options, context) => ({
      models,
      availability,
      async transcribe(call, options) {
        options.signal.throwIfAborted();
        refuse(call);
        const { wavPath, durationMs } = await decode(context, call.recording, options);
        await work(context, wavPath, options);
        return hear(await readFile(wavPath), durationMs);
      },
    }),
  });
  export default engineOf(parts);`;

/** For each rule, engines that break it: what differs from the good one, as source. */
const badEngines: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the models are well-formed and named once, and are listed from memory': {
    'does not say whether its model is local': `models: async () => [{ id: 'ears' }]`,
    'has a model without a name': `models: async () => [{ id: '', local: true }]`,
    'serves nothing': `models: async () => []`,
    'lists a model twice': `models: async () => [{ id: 'ears', local: true }, { id: 'ears', local: true }]`,
    'thinks long about its models': `models: async () => { await sleep(400); return parts.models(); }`,
  },
  'every model tells whether it can work, at once, in a word that is known': {
    'says so in a word of its own': `availability: async () => ({ available: true, code: 'fine', reason: 'Fine.' })`,
    'is ready but not available': `availability: async () => ({ available: false, code: 'ready', reason: 'Ready.' })`,
    'lacks a key but is available': `availability: async () => ({ available: true, code: 'key-missing', reason: 'No.' })`,
    'gives no reason': `availability: async () => ({ available: true, code: 'ready', reason: '' })`,
    'asks its provider first': `availability: async () => { await sleep(400); return parts.availability(); }`,
  },
  'a model that it does not serve is refused': {
    'takes any model': `refuse: (call) => parts.refuse({ ...call, model: 'ears' })`,
    'throws an ordinary error': `refuse: ({ model }) => { if (model !== 'ears') throw new Error('no such model'); }`,
  },
  'words become a transcript': {
    'names the language in English': `hear: (...heard) => ({ ...parts.hear(...heard), language: 'english' })`,
    'leaves the language out': `hear: () => ({ text: 'alpha' })`,
    'hears nothing': `hear: () => ({ text: '', language: null })`,
    'breaks the text into lines': `hear: (...heard) => ({ ...parts.hear(...heard), text: 'alpha\\nbravo' })`,
    'measures in seconds': `hear: (wav, durationMs) => ({ ...parts.hear(wav), durationMs: durationMs / 1000 })`,
  },
  'silence is no text in no language': {
    'hears words in silence': `hear: () => ({ text: 'Thank you.', language: 'en' })`,
    'hears a language in silence': `hear: (...heard) => ({ ...parts.hear(...heard), language: 'en' })`,
  },
  'what is no recording is refused': {
    'makes something of it': `decode: async (context, { path }) => ({ wavPath: path, durationMs: 1 })`,
    'throws an ordinary error': `decode: (...call) => parts.decode(...call).catch(() => { throw new Error('broken'); })`,
    'has a code of its own': `decode: (...call) => parts.decode(...call).catch((error) => { error.code = 'broken'; throw error; })`,
  },
  'a language that there is not is refused': {
    'takes any language': `refuse: (call) => parts.refuse({ ...call, language: 'en' })`,
    'has another word for it': `refuse: (call) => {
      try { parts.refuse(call); } catch (error) { throw Object.assign(error, { code: 'content-rejected' }); }
    }`,
  },
  'a caller who leaves is let go at once, with the reason': {
    'works to the end': `
      decode: (context, recording) => parts.decode(context, recording, { signal: new AbortController().signal }),
      work: () => sleep(400)`,
    'rejects with an error of its own': `decode: (...call) => parts.decode(...call).catch(() => { throw new Error(); })`,
  },
  'nothing is left behind, however a call ends': {
    'leaves a directory': `work: async (context, wavPath, options) => {
      await context.temporaryDirectory();
      await parts.work(context, wavPath, options);
    }`,
    'leaves a directory when its caller leaves': `decode: async (context, recording, { signal }) => {
      const directory = await context.temporaryDirectory();
      const decoded = await parts.decode(context, recording, { signal });
      await sleep(150, undefined, { signal });
      await directory[Symbol.asyncDispose]();
      return decoded;
    }`,
  },
  'right options start it, and wrong ones stop the start': {
    'takes any option': `options: { type: 'object', properties: { volume: { type: 'string' } } }`,
    'takes anything for an option': `options: { ...parts.options, properties: { volume: {} } }`,
    'does not start with the right ones': `options: { ...parts.options, required: ['pitch'] }`,
  },
};

describe('the kit for transcription', () => {
  const options = { volume: 'loud' };
  let made = 0;

  async function subjectFrom(source: string): Promise<TranscriptionSubject> {
    const folder = join(directory, `engine-${made++}`);
    await writeFiles(folder, { 'package.json': { type: 'module' }, 'good.js': good, 'engine.js': source });
    return subjectOf(join(folder, 'engine.js'), options);
  }

  const checkOf = (name: string): Check<TranscriptionSubject> =>
    transcriptionChecks.find((check) => check.name === name)!;

  it('lets a good engine pass', async () => {
    const subject = await subjectFrom(`export { default } from './good.js';`);
    const verdicts = await runChecks(transcriptionChecks, subject);
    expect(verdicts).toEqual(transcriptionChecks.map(({ name }) => ({ check: name })));
  });

  it('has a bad engine for each of its checks', () => {
    expect(Object.keys(badEngines)).toEqual(transcriptionChecks.map(({ name }) => name));
  });

  const cases = Object.entries(badEngines).flatMap(([rule, engines]) =>
    Object.entries(engines).map(([what, difference]) => ({ rule, what, difference })),
  );
  it.each(cases)('catches by "$rule" an engine that $what', async ({ rule, difference }) => {
    const subject = await subjectFrom(`
      import { setTimeout as sleep } from 'node:timers/promises';
      import { engineOf, parts } from './good.js';
      export default engineOf({ ...parts, ${difference} });`);
    const [verdict] = await runChecks([checkOf(rule)], subject);
    expect(verdict?.failure).toBeInstanceOf(Error);
    // It is the rule that fails it, or a start that the registry refuses for the same reason; no slip in the source.
    expect(String(verdict?.failure)).toMatch(/^Nonconformance: |must be unique|"pitch" is missing/);
  });
});

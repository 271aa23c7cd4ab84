/** Recordings of numbered words, and an engine that recognizes each of them: a word is a tenth of a second at a level of its own. */
import { sampleRate, wavHeader } from '../../../lib/wav.ts';

const slot = sampleRate / 2;
const loud = sampleRate / 10;

/** Word n at n/2 s, then a pause. */
export function speechOf(words: number): Buffer {
  const samples = new Int16Array(words * slot);
  for (let n = 0; n < words; n += 1) samples.fill(levelOf(n), n * slot + loud, n * slot + 2 * loud);
  return Buffer.concat([wavHeader(samples.byteLength), new Uint8Array(samples.buffer)]);
}

export function textOf(words: number, from = 0): string {
  return Array.from({ length: words }, (_, n) => `w${from + n}`).join(' ');
}

const levelOf = (n: number) => 1_000 + 10 * n;

export interface EngineCall {
  /** Size of the samples. */
  readonly bytes: number;
  /** Number of the first word; undefined for silence. */
  readonly first: number | undefined;
  readonly language: string | undefined;
  readonly translate: true | undefined;
  readonly keywords: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** Called with every part, before it is transcribed: it may wait, and throw what the engine then fails with. */
export type Hook = (call: EngineCall) => unknown;

const hookName = 'parlance.test.jobs';

/** For the services of this process, until it is disposed. */
export function hookEngine(hook: Hook): Disposable {
  const place = globalThis as { [hookName]?: Hook | undefined };
  place[hookName] = hook;
  return { [Symbol.dispose]: () => (place[hookName] = undefined) };
}

/**
 * Models: `words` reports segments and words, `only words` no segments, `plain` reads the recording by itself and reports the text alone, `slow` takes
 * its time (JOBS_TEST_MS).
 */
const source = `
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const models = [
  { id: 'words', local: true, supports: ['segment', 'word', 'translate', 'keywords'] },
  { id: 'plain', local: true },
  { id: 'only words', local: true, supports: ['word'] },
  { id: 'slow', local: true, supports: ['segment', 'word'] },
];

export default {
  contract: 1,
  name: 'words',
  capability: 'transcription',
  options: { type: 'object', properties: { slots: { type: 'integer' }, decodes: { type: 'boolean' } } },
  create: ({ slots = 1, decodes = false }, context) => {
    const queue = context.queue({ slots, waiting: 16 });
    const soundOf = async ({ model, recording }, options) => {
      if (model === 'plain') return (await readFile(recording.path)).subarray(44);
      const { wavPath, startMs, endMs } = await context.decode(recording, options);
      return (await readFile(wavPath)).subarray(44 + 32 * startMs, 44 + 32 * endMs);
    };
    return {
      ...(decodes && { decodes }),
      models,
      transcribe: (call, options) => queue.run(async () => {
        const sound = await soundOf(call, options);
        const [found, bytes] = [wordsIn(sound), sound.length];
        const { language, translate, keywords } = call;
        await globalThis['${hookName}']?.({ bytes, first: found[0]?.n, language, translate, keywords, signal: options.signal });
        if (call.model === 'slow') await wait(Number(context.env.JOBS_TEST_MS ?? 50), undefined, { signal: options.signal });
        const times = found.map(({ n, startMs }) => ({ startMs, endMs: startMs + 100, text: 'w' + n }));
        return {
          text: times.map(({ text }) => text).join(' '),
          language: found.length > 0 ? (language ?? 'de') : null,
          ...(call.timestamps?.includes('segment') && { segments: times }),
          ...(call.timestamps?.includes('word') && { words: times }),
        };
      }, options),
    };
  },
};

function wordsIn(bytes) {
  const samples = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const found = [];
  for (let at = 0; at < samples.length; at += 1) {
    if (samples[at] < 900) continue;
    found.push({ n: Math.round((samples[at] - 1000) / 10), startMs: Math.round(at / 16) });
    while (samples[at] >= 900) at += 1;
  }
  return found;
}
`;

export const wordEngine = {
  config: 'engines: { words: { use: ./words.mjs } }\n',
  files: { 'words.mjs': source },
} as const;

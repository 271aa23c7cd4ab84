/**
 * An engine without models that finds two speakers, the second from the middle of the recording on. The voice of a
 * reference is its level: `voices` are those of the speakers. It takes its time if JOBS_TEST_MS is set.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpeakerOptions } from '../../engines/contract/index.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { wordEngine } from '../jobs/support/speech.ts';

const name = 'parlance.test.search';
type Search = (options: SpeakerOptions) => unknown;

/** Called by each search before it ends, until it is disposed. */
export function hookSearch(search: Search): Disposable {
  const place = globalThis as { [name]?: Search | undefined };
  place[name] = search;
  return { [Symbol.dispose]: () => (place[name] = undefined) };
}

/** Levels of the first and the second speaker, and of a stranger. */
export const voices = { first: 2_345, second: 3_456, stranger: 4_567 } as const;

/** Samples that alternate between the level and its opposite. */
const soundOf = (level: number, samples: number): Int16Array<ArrayBuffer> =>
  Int16Array.from({ length: samples }, (_, i) => (i % 2 === 0 ? level : -level));

export function referenceOf(voice: keyof typeof voices, seconds = 2): Uint8Array<ArrayBuffer> {
  const samples = soundOf(voices[voice], seconds * sampleRate);
  return new Uint8Array(Buffer.concat([wavHeader(samples.byteLength), new Uint8Array(samples.buffer)]));
}

/** The levels of `voices` of which a file below the directory has some samples. */
export async function soundsIn(directory: string): Promise<number[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name: file }) => join(parentPath, file));
  // Other processes may just have removed a file.
  const contents = await Promise.all(files.map((path) => readFile(path).catch(() => Buffer.alloc(0))));
  return Object.values(voices).filter((level) => {
    const sound = Buffer.from(soundOf(level, 50).buffer);
    return contents.some((bytes) => bytes.includes(sound) || bytes.includes(sound.toString('base64', 0, 48)));
  });
}

const source = `
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const levelOf = async ({ wavPath }) => (await readFile(wavPath)).readInt16LE(1_000);

export default {
  contract: 1,
  name: 'finder',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: (_options, { env }) => ({
    models: [],
    speakers: {
      maxMs: 60_000,
      async find({ endMs }, options) {
        await globalThis['${name}']?.(options);
        for (let step = 1; env.JOBS_TEST_MS && step <= 10; step += 1) {
          await wait(Number(env.JOBS_TEST_MS), undefined, { signal: options.signal });
          options.onProgress?.(step / 10);
        }
        const levels = await Promise.all((options.references ?? []).map(levelOf));
        return {
          spans: [{ startMs: 0, endMs: endMs / 2, speaker: 1 }, { startMs: endMs / 2, endMs, speaker: 0 }],
          distances: levels.map((level) => [${voices.second}, ${voices.first}].map((voice) => voice === level ? 0.1 : 0.9)),
        };
      },
    },
    transcribe: () => Promise.reject(new Error('it has no models')),
  }),
};
`;

/** The engine beside `wordEngine`. */
export const withFinder = {
  config: 'engines: { words: { use: ./words.mjs }, finder: { use: ./finder.mjs } }\n',
  files: { ...wordEngine.files, 'finder.mjs': source },
};

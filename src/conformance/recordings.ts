/** The recordings that the kit sends to transcription engines. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container } from '../../engines/contract/index.ts';
import { mediaTypes } from '../audio/sniff.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import type { Sound, TranscriptionSubject } from './transcription.ts';

/** "Yes no hello", spoken by eSpeak NG: 16 kHz mono. */
export const spokenWords = new URL('./words.wav', import.meta.url);

const bytesPerMs = (sampleRate * 2) / 1000;
const silentMs = 1_000;

/** The first bytes of a WebM file, then arbitrary bytes. */
const nonsense = Buffer.concat([
  Buffer.from('1a45dfa3', 'hex'),
  Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251)),
]);

const silence = Buffer.concat([wavHeader(silentMs * bytesPerMs), Buffer.alloc(silentMs * bytesPerMs)]);

/**
 * Writes each recording to its own directory, which is removed on disposal. `words` is a 16 kHz mono s16 WAV file with
 * a plain header, containing words that the engine understands.
 */
export async function openRecorder(words: URL | string = spokenWords): Promise<TranscriptionSubject['record']> {
  const spoken = await readWords(words);
  const contents: Readonly<Record<Sound, Buffer>> = { words: spoken, slice: threeTimes(spoken), silence, nonsense };
  return async (sound) => {
    const content = contents[sound];
    const container: Container = sound === 'nonsense' ? 'webm' : 'wav';
    const directory = await mkdtemp(join(tmpdir(), 'parlance-kit-'));
    const path = join(directory, 'recording');
    await writeFile(path, content);
    const durationMs = (content.length - wavHeader(0).length) / bytesPerMs;
    const [startMs, endMs] = [durationMs / 3, (2 * durationMs) / 3];
    return {
      path,
      bytes: content.length,
      container,
      mediaType: mediaTypes[container],
      ...(sound === 'slice' ? { slice: { startMs, endMs }, durationMs: endMs - startMs } : { durationMs }),
      [Symbol.asyncDispose]: async () => rm(directory, { recursive: true }),
    };
  };
}

/** Repeats the words three times. Each repetition lasts a whole number of milliseconds. */
function threeTimes(words: Buffer): Buffer {
  const samples = words.subarray(wavHeader(0).length);
  const padded = Buffer.concat([samples, Buffer.alloc(-samples.length & (bytesPerMs - 1))]);
  return Buffer.concat([wavHeader(3 * padded.length), padded, padded, padded]);
}

/** The duration is computed from the file size, which is correct only for this format. */
async function readWords(path: URL | string): Promise<Buffer> {
  const words = await readFile(path);
  const plain = wavHeader(Math.max(0, words.length - wavHeader(0).length));
  if (words.subarray(0, 40).equals(plain.subarray(0, 40))) return words;
  throw new Error(`${String(path)} is not a WAV file of 16 kHz, mono, 16 bits with a plain header of 44 bytes`);
}

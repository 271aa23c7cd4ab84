/** Cuts the decoded sound of a job into parts, where it is quietest. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Recording, TranscriptionEngine } from '../../engines/contract/index.ts';
import { quietestPlace } from '../../lib/quietest-place.ts';
import { sampleRate } from '../../lib/wav.ts';
import { bytesOf, lengthOf, samplesPerMs, toFile, type WavSlice } from '../../lib/wav-slice.ts';
import type { AccountedDirectory } from '../system/workspace.ts';

const headerBytes = 44;
const bytesPerSample = 2;

/** 9.6 MB: below the limit of every hosted provider. */
const longestSeconds = 300;
const searchSeconds = 30;
/** What follows a cut is never shorter. */
const leastSeconds = 1;

export interface Cutting {
  readonly wavPath: string;
  /** All samples of the recording, to a whole millisecond. */
  readonly samples: number;
  /** TRANSCRIBE_MAX_SECONDS: what engines decode. */
  readonly maxSeconds: number;
}

/** The sample at which the part that begins at `start` ends, at a whole millisecond like `start`. */
export async function endOfPart(start: number, { wavPath, samples, maxSeconds }: Cutting): Promise<number> {
  const longest = Math.min(longestSeconds, maxSeconds) * sampleRate;
  const left = samples - start;
  if (left <= longest) return samples;
  const end = start + Math.min(longest, left - leastSeconds * sampleRate);
  const search = Math.min(searchSeconds, Math.floor(longest / sampleRate / 2) || 1);
  const from = Math.max(start + samplesPerMs, end - search * sampleRate);
  await using wav = await open(wavPath);
  const bytes = Buffer.alloc((end - from) * bytesPerSample);
  await readAll(wav, bytes, from);
  const sound = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / bytesPerSample);
  const quietest = from + quietestPlace(sound, search * 1000);
  return quietest - (quietest % samplesPerMs);
}

/** The part as an engine gets it: in the decoded recording, or in a file of its own for an engine that may read more. */
export async function recordingOf(
  part: WavSlice,
  { decodes }: Pick<TranscriptionEngine, 'decodes'>,
  { path, account }: Pick<AccountedDirectory, 'path' | 'account'>,
  signal: AbortSignal,
): Promise<Recording> {
  const { wavPath, ...slice } = part;
  const wav = { container: 'wav', mediaType: 'audio/wav' } as const;
  if (decodes) return { ...wav, path: wavPath, bytes: bytesOf(part), slice };
  account.take(bytesOf(part));
  const file = await toFile(part, join(path, 'part.wav'), signal);
  return { ...wav, ...file, slice: { startMs: 0, endMs: lengthOf(part) } };
}

async function readAll(wav: FileHandle, into: Buffer, firstSample: number): Promise<void> {
  for (let read = 0; read < into.length;) {
    const position = headerBytes + firstSample * bytesPerSample + read;
    const { bytesRead } = await wav.read(into, read, into.length - read, position);
    if (bytesRead === 0) throw new Error('the decoded recording is shorter than it was');
    read += bytesRead;
  }
}

/** Cuts the decoded sound of a job into parts, where it is quietest. */
import { join } from 'node:path';
import type { Recording, TranscriptionEngine } from '../../engines/contract/index.ts';
import { quietestPlace } from '../../lib/quietest-place.ts';
import { bytesOf, lengthOf, readSlice, samplesPerMs, toFile, type WavSlice } from '../../lib/wav.ts';
import type { AccountedDirectory } from '../system/workspace.ts';

/** 9.6 MB: below the limit of every hosted provider. */
const longestSeconds = 300;
const searchSeconds = 30;
/** What follows a cut is never shorter. */
const leastMs = 1_000;

export interface Cutting {
  readonly wavPath: string;
  readonly durationMs: number;
  /** TRANSCRIBE_MAX_SECONDS: what engines decode. */
  readonly maxSeconds: number;
}

/** Where the part that begins at `startMs` ends. */
export async function endOfPart(startMs: number, { wavPath, durationMs, maxSeconds }: Cutting): Promise<number> {
  const seconds = Math.min(longestSeconds, maxSeconds);
  const leftMs = durationMs - startMs;
  if (leftMs <= 1000 * seconds) return durationMs;
  const endMs = startMs + Math.min(1000 * seconds, leftMs - leastMs);
  const searchMs = 1000 * Math.min(searchSeconds, Math.floor(seconds / 2) || 1);
  const fromMs = Math.max(startMs + 1, endMs - searchMs);
  const sound = new Int16Array((endMs - fromMs) * samplesPerMs);
  let read = 0;
  for await (const samples of readSlice({ wavPath, startMs: fromMs, endMs })) {
    sound.set(samples, read);
    read += samples.length;
  }
  return fromMs + Math.floor(quietestPlace(sound, searchMs) / samplesPerMs);
}

/** The part as an engine gets it: in the decoded recording, or in a file of its own for an engine that may read more. */
export async function recordingOf(
  part: WavSlice,
  { decodes }: Pick<TranscriptionEngine, 'decodes'>,
  { path, account }: AccountedDirectory,
  signal: AbortSignal,
): Promise<Recording> {
  const { wavPath, ...slice } = part;
  const wav = { container: 'wav', mediaType: 'audio/wav' } as const;
  if (decodes) return { ...wav, path: wavPath, bytes: bytesOf(part), slice };
  account.take(bytesOf(part));
  const file = await toFile(part, join(path, 'part.wav'), signal);
  return { ...wav, ...file, slice: { startMs: 0, endMs: lengthOf(part) } };
}

/** Cuts the decoded recording of a job into parts at its quietest points. */
import { join } from 'node:path';
import type { Recording } from '../../engines/contract/index.ts';
import { quietestPlace } from '../../lib/quietest-place.ts';
import { bytesOf, lengthOf, samplesOf, samplesPerMs, toFile, type WavSlice } from '../../lib/wav.ts';
import { sliceOf } from '../audio/wav-file.ts';
import type { AccountedDirectory } from '../system/workspace.ts';

/** A part of 300 s is 9.6 MB, which is below the limit of every hosted provider. */
const maxPartSeconds = 300;
const searchSeconds = 30;
/** Minimum length of the part after a cut. */
const minPartMs = 1_000;

export interface Cutting {
  /** The decoded recording, or each of its channels. */
  readonly wavPaths: readonly string[];
  readonly durationMs: number;
  /** TRANSCRIBE_MAX_SECONDS, the maximum length that engines decode. */
  readonly maxSeconds: number;
}

/** Returns the end of the part that begins at `startMs`. */
export async function endOfPart(startMs: number, { wavPaths, durationMs, maxSeconds }: Cutting): Promise<number> {
  const seconds = Math.min(maxPartSeconds, maxSeconds);
  const leftMs = durationMs - startMs;
  if (leftMs <= 1000 * seconds) return durationMs;
  const endMs = startMs + Math.min(1000 * seconds, leftMs - minPartMs);
  const searchMs = 1000 * Math.min(searchSeconds, Math.floor(seconds / 2) || 1);
  const fromMs = Math.max(startMs + 1, endMs - searchMs);
  const sounds = await Promise.all(wavPaths.map((wavPath) => samplesOf({ wavPath, startMs: fromMs, endMs })));
  const [sound = new Int16Array()] = sounds;
  const average = (i: number) => sounds.reduce((sum, some) => sum + (some[i] ?? 0), 0) / sounds.length;
  const mixed = sounds.length === 1 ? sound : sound.map((_sample, i) => average(i));
  return fromMs + Math.floor(quietestPlace(mixed, searchMs) / samplesPerMs);
}

/**
 * Returns the part in the form that an engine expects: a slice of the decoded recording, or a file in `directory` if
 * the engine might read beyond the slice.
 */
export async function recordingOf(
  part: WavSlice,
  directory: (AccountedDirectory & { readonly name: string }) | undefined,
  signal: AbortSignal,
): Promise<Recording> {
  const slice = sliceOf(part);
  if (!directory) return slice;
  directory.account.take(bytesOf(part));
  const file = await toFile(part, join(directory.path, directory.name), signal);
  return { ...slice, ...file, slice: { startMs: 0, endMs: lengthOf(part) } };
}

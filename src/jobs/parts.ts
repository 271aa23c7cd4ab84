/** Cuts the decoded sound of a job into parts, where it is quietest. */
import { open, type FileHandle } from 'node:fs/promises';
import { quietestPlace } from '../../lib/quietest-place.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';

const headerBytes = 44;
const bytesPerSample = 2;

/** 9.6 MB: below the limit of every hosted provider. */
const longestSeconds = 300;
const searchSeconds = 30;
/** What follows a cut is never shorter. */
const leastSeconds = 1;

export interface Cutting {
  readonly wavPath: string;
  /** All samples of the recording. */
  readonly samples: number;
  /** TRANSCRIBE_MAX_SECONDS: what engines decode. */
  readonly maxSeconds: number;
}

/** The sample at which the part that begins at `start` ends. */
export async function endOfPart(start: number, { wavPath, samples, maxSeconds }: Cutting): Promise<number> {
  const longest = Math.min(longestSeconds, maxSeconds) * sampleRate;
  const left = samples - start;
  if (left <= longest) return samples;
  const end = start + Math.min(longest, left - leastSeconds * sampleRate);
  const search = Math.min(searchSeconds, Math.floor(longest / sampleRate / 2) || 1);
  const from = Math.max(start + 1, end - search * sampleRate);
  await using wav = await open(wavPath);
  const bytes = Buffer.alloc((end - from) * bytesPerSample);
  await readAll(wav, bytes, from);
  const sound = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / bytesPerSample);
  return from + quietestPlace(sound, search * 1000);
}

const copyBytes = 1_048_576;

/** Writes these samples as a WAV file of their own; returns its size. */
export async function writePart(
  { wavPath }: Pick<Cutting, 'wavPath'>,
  { start, end, path }: { readonly start: number; readonly end: number; readonly path: string },
): Promise<number> {
  const bytes = partBytes(start, end);
  await using wav = await open(wavPath);
  await using part = await open(path, 'wx', 0o600);
  await part.writeFile(wavHeader(bytes - headerBytes));
  const buffer = Buffer.alloc(copyBytes);
  for (let at = start; at < end; at += copyBytes / bytesPerSample) {
    const piece = buffer.subarray(0, Math.min(copyBytes, (end - at) * bytesPerSample));
    await readAll(wav, piece, at);
    await part.writeFile(piece);
  }
  return bytes;
}

/** Size of the WAV file of these samples. */
export function partBytes(start: number, end: number): number {
  return headerBytes + (end - start) * bytesPerSample;
}

/** The number of samples in a decoded recording of this size. */
export function samplesIn(bytes: number): number {
  return Math.max(0, Math.floor((bytes - headerBytes) / bytesPerSample));
}

async function readAll(wav: FileHandle, into: Buffer, firstSample: number): Promise<void> {
  for (let read = 0; read < into.length;) {
    const position = headerBytes + firstSample * bytesPerSample + read;
    const { bytesRead } = await wav.read(into, read, into.length - read, position);
    if (bytesRead === 0) throw new Error('the decoded recording is shorter than it was');
    read += bytesRead;
  }
}

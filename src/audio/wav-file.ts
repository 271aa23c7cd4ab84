/** Writes the WAV file of a decoded recording: 16 kHz mono s16. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Decoded, Recording, Span } from '../../engines/contract/index.ts';
import { sampleFormats } from '../../lib/samples.ts';
import { bytesOf, findWavSamples, sampleRate, wavHeader } from '../../lib/wav.ts';
import { type DecodedRecording, type DecodeRequest, type DecodeOptions, notStereo, tooLong } from './decode-request.ts';

const bytesPerSecond = sampleRate * 2;

/** Creates the file, and removes it when `fill` fails. */
export async function createWav<T>(wavPath: string, fill: (wav: FileHandle) => Promise<T>): Promise<T> {
  await using wav = await open(wavPath, 'wx', 0o600);
  try {
    return await fill(wav);
  } catch (error) {
    await rm(wavPath, { force: true });
    throw error;
  }
}

interface Writing extends Pick<DecodeRequest, 'maxSeconds'>, Pick<DecodeOptions, 'account'> {
  /** Called to stop the source once its samples exceed the maximum duration. */
  readonly stop?: () => void;
}

/**
 * Writes the header and the samples, until the samples exceed the maximum duration; returns the number of bytes of
 * samples.
 */
export async function writeSamples(
  samples: AsyncIterable<Buffer>,
  wav: FileHandle,
  { maxSeconds, account, stop }: Writing,
): Promise<number> {
  let bytes = 0;
  await wav.write(wavHeader(0));
  for await (const chunk of samples) {
    account?.take(chunk.length);
    await wav.writeFile(chunk); // not `write`: that may write only a part on a full disk, without an error
    bytes += chunk.length;
    if (bytes > maxSeconds * bytesPerSecond) {
      stop?.();
      break;
    }
  }
  await wav.write(wavHeader(bytes), 0, undefined, 0);
  return bytes;
}

/** Throws `recording-too-long`. */
export function decodedOf(
  bytes: number,
  {
    wavPath,
    maxSeconds,
    gaps = [],
  }: Pick<DecodeRequest, 'wavPath' | 'maxSeconds'> & { readonly gaps?: readonly Span[] },
): DecodedRecording {
  if (bytes > maxSeconds * bytesPerSecond) throw tooLong(maxSeconds);
  return { wavPath, startMs: 0, endMs: Math.ceil((bytes / bytesPerSecond) * 1000), gaps };
}

/** Returns decoded audio in the form that engines that call `decode` expect: as a slice of its file. */
export function sliceOf({ wavPath, startMs, endMs }: Decoded): Recording {
  const slice = { startMs, endMs };
  return { path: wavPath, container: 'wav', mediaType: 'audio/wav', bytes: bytesOf({ wavPath, ...slice }), slice };
}

const pieceBytes = 1_048_576;

/** A range of whole samples, in bytes from the beginning of the file. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns undefined if the file needs a decoder or has no samples. Creates the file `wavPath`, and removes it on
 * failure.
 */
export async function copyPcmWav(
  { path, wavPath, maxSeconds, channel }: DecodeRequest,
  { signal, account }: DecodeOptions,
): Promise<DecodedRecording | undefined> {
  await using source = await open(path);
  const range = await findSamples(source);
  if (range === undefined) return undefined;
  if (channel !== undefined) throw notStereo(1);
  return await createWav(wavPath, async (wav) => {
    const bytes = await writeSamples(readRange(source, range, signal), wav, { maxSeconds, account });
    return decodedOf(bytes, { wavPath, maxSeconds });
  });
}

async function findSamples(source: FileHandle): Promise<Range | undefined> {
  const found = await findWavSamples(source);
  if (found === undefined) return undefined;
  const { layout, start, bytes } = found;
  const isPlain =
    layout.sampleRate === sampleRate && layout.channels === 1 && layout.format === sampleFormats['pcm-s16'];
  return isPlain && bytes >= 2 ? { start, end: start + bytes - (bytes % 2) } : undefined;
}

async function* readRange(source: FileHandle, { start, end }: Range, signal: AbortSignal): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, end - start));
  for (let position = start; position < end;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(piece, 0, Math.min(piece.length, end - position), position);
    if (bytesRead === 0) return; // the file was truncated in the meantime; without this, the loop would never end
    yield piece.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/**
 * Reads WAV with integers, floats, A-law or mu-law, and writes it as mono s16. Reads a file from the beginning, even
 * while it is being written or received.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, stat, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { audioSignatures } from './audio-signatures.ts';
import { type ByteReader, createByteReader } from './byte-reader.ts';
import { deinterleave, mixDown, type SampleFormat, sampleFormats, toSamples16, viewSamples16 } from './samples.ts';

/** Sample rate in Hz that speech recognition expects. */
export const sampleRate = 16_000;

const headerBytes = 44;

/**
 * The 44-byte header of a mono s16 WAV file with `dataBytes` bytes of samples and `trailerBytes` bytes of chunks after
 * them; `rate` is in Hz.
 */
export function wavHeader(dataBytes: number, rate = sampleRate, trailerBytes = 0): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(headerBytes - 8 + dataBytes + trailerBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16); // length of the format chunk
  header.writeUInt16LE(1, 20); // integer PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28); // bytes per second
  header.writeUInt16LE(2, 32); // bytes per sample
  header.writeUInt16LE(16, 34); // bits per sample
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** The bytes are not a readable WAV file; the message describes them. */
export class WavError extends Error {
  override readonly name = 'WavError';
  /** The WAV format code of an unsupported encoding; undefined for other errors. */
  readonly format: number | undefined;

  constructor(message: string, { format }: { format?: number } = {}) {
    super(message);
    this.format = format;
  }
}

export interface WavLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly format: SampleFormat;
  /**
   * Announced length of the samples; Infinity if unknown. A program that does not know the length yet announces too
   * much.
   */
  readonly bytes: number;
}

/** Encodings by WAV's format code and bits per sample, rounded up to whole bytes. */
const formats: Readonly<Record<string, SampleFormat>> = {
  '1/8': sampleFormats['pcm-u8'],
  '1/16': sampleFormats['pcm-s16'],
  '1/24': sampleFormats['pcm-s24'],
  '1/32': sampleFormats['pcm-s32'],
  '3/32': sampleFormats['pcm-f32'],
  '3/64': sampleFormats['pcm-f64'],
  '6/8': sampleFormats.alaw,
  '7/8': sampleFormats.ulaw,
};
const extensible = 0xfffe;

interface WavSound {
  readonly sampleRate: number;
  readonly samples: AsyncGenerator<Int16Array>;
}

/**
 * Reads speech as mono s16. Resolves once the header has arrived, with undefined for an empty stream. Throws a
 * `WavError`.
 */
export async function readWav(source: AsyncIterable<Uint8Array>): Promise<WavSound | undefined> {
  const bytes = createByteReader(source);
  const head = await bytes.peek(12);
  if (head.length === 0) return undefined;
  if (!isWav(head)) throw new WavError('not a WAV file');
  const layout = await readSpeechHeader(bytes);
  return { sampleRate: layout.sampleRate, samples: readSamples(bytes, layout) };
}

export function isWav(head: Buffer): boolean {
  return audioSignatures.wav.test(head.toString('latin1', 0, 12));
}

/** Accepts only mono and stereo at 8 to 48 kHz. */
export async function readSpeechHeader(bytes: ByteReader): Promise<WavLayout> {
  const layout = await readWavHeader(bytes);
  const { channels, sampleRate } = layout;
  if (channels < 1 || channels > 2 || sampleRate < 8000 || sampleRate > 48_000) {
    throw new WavError(`a WAV of ${channels} channels, ${sampleRate} Hz`);
  }
  return layout;
}

/** Throws a `WavError`. Accepts any number of channels and any sample rate. */
export async function readWavHeader(bytes: ByteReader): Promise<WavLayout> {
  await bytes.skip(12);
  let format: Omit<WavLayout, 'bytes'> | undefined;
  let longSize = Infinity;
  for (;;) {
    const head = await bytes.peek(8);
    if (head.length < 8) throw new WavError('a WAV without samples');
    const id = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    await bytes.skip(8);
    if (id === 'data') {
      if (!format) throw new WavError('a WAV without a format');
      return { ...format, bytes: (size === inLongSize ? longSize : size) || Infinity };
    }
    if (id === 'fmt ') format = readFormat(await bytes.peek(Math.min(size, 40)));
    if (id === 'ds64') longSize = readLongSize(await bytes.peek(Math.min(size, 16)));
    await bytes.skip(size + (size % 2));
  }
}

/** The size of the samples is in the chunk `ds64`; without it, the size is unknown. */
const inLongSize = 0xffff_ffff;

/** The size of the file comes first. */
function readLongSize(chunk: Buffer): number {
  return chunk.length < 16 ? Infinity : Number(chunk.readBigUInt64LE(8));
}

function readFormat(chunk: Buffer): Omit<WavLayout, 'bytes'> {
  if (chunk.length < 16) throw new WavError('a WAV whose format is cut');
  const tag = chunk.readUInt16LE(0);
  // In the extensible header, the code is in the first two bytes of a GUID.
  const code = tag === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const [channels, sampleRate, bits] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)];
  const format = formats[`${code}/${8 * Math.ceil(bits / 8)}`];
  if (!format) throw new WavError(`a WAV of format ${code}, ${bits} bits`, { format: code });
  return { sampleRate, channels, format };
}

/** Yields the samples as mono s16. */
export async function* readSamples(bytes: ByteReader, layout: WavLayout): AsyncGenerator<Int16Array> {
  for await (const frames of framesOf(bytes, layout)) {
    yield toMono(frames, layout);
  }
}

function toMono(frames: Uint8Array, { channels, format }: WavLayout): Int16Array {
  if (channels === 1 && format === sampleFormats['pcm-s16']) return viewSamples16(frames);
  return toSamples16(mixDown(deinterleave(frames, format, channels)));
}

/** Yields the samples in whole frames as they arrive, at most as many as the header announces. */
export async function* framesOf(
  bytes: ByteReader,
  { channels, format, ...layout }: WavLayout,
): AsyncGenerator<Uint8Array> {
  const frameBytes = channels * format.bytes;
  let left = layout.bytes;
  let carried: Uint8Array = new Uint8Array();
  for await (const chunk of bytes.rest()) {
    const more = chunk.subarray(0, left);
    const own = carried.length === 0 ? more : Buffer.concat([carried, more]);
    left -= Math.min(left, chunk.length);
    const whole = own.length - (own.length % frameBytes);
    carried = own.subarray(whole);
    if (whole > 0) yield own.subarray(0, whole);
    if (left === 0) return; // other chunks may follow
  }
}

/** The samples must begin within this number of bytes. */
const headBytes = 65_536;

/**
 * Returns undefined if the given part of the file is not WAV, has an unsupported encoding, or has too much data before
 * the samples. `bytes` is the size of the samples.
 */
export async function findWavSamples(
  file: FileHandle,
  part?: { readonly start: number; readonly end: number },
): Promise<{ readonly layout: WavLayout; readonly start: number; readonly bytes: number } | undefined> {
  const { start: position, end } = part ?? { start: 0, end: (await file.stat()).size };
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(headBytes), { position });
  const head = buffer.subarray(0, bytesRead);
  if (!isWav(head)) return undefined;
  const reader = createByteReader(Readable.from([head]));
  try {
    const layout = await readWavHeader(reader);
    const start = position + head.length - (await reader.peek(head.length)).length;
    // A recording may have been cut off: the existing samples are used, as ffmpeg does.
    return { layout, start, bytes: Math.min(layout.bytes, end - start) };
  } catch (error) {
    if (error instanceof WavError) return undefined;
    throw error;
  }
}

/**
 * A part, in whole milliseconds, of a WAV file that the service has written: 16 kHz mono s16, with a header of 44 bytes.
 * The file may end less than 1 ms before `endMs`.
 */
export interface WavSlice {
  readonly wavPath: string;
  readonly startMs: number;
  readonly endMs: number;
}

export const samplesPerMs = sampleRate / 1000;

/** Offset of a millisecond in the file. */
const offsetOf = (ms: number): number => headerBytes + 2 * samplesPerMs * ms;

export const lengthOf = ({ startMs, endMs }: Omit<WavSlice, 'wavPath'>): number => endMs - startMs;

/** Size of a WAV file that contains only this slice. */
export const bytesOf = (slice: WavSlice): number => offsetOf(lengthOf(slice));

export function readSlice(slice: WavSlice): AsyncGenerator<Int16Array> {
  const bytes = createByteReader(createReadStream(slice.wavPath, { start: offsetOf(slice.startMs) }));
  const layout = { sampleRate, channels: 1, format: sampleFormats['pcm-s16'] };
  return readSamples(bytes, { ...layout, bytes: bytesOf(slice) - headerBytes });
}

/** Returns the samples of a slice that fits in memory; zeros where the file ends before `endMs`. */
export async function samplesOf(slice: WavSlice): Promise<Int16Array> {
  const sound = new Int16Array(lengthOf(slice) * samplesPerMs);
  let read = 0;
  for await (const samples of readSlice(slice)) {
    sound.set(samples, read);
    read += samples.length;
  }
  return sound;
}

/**
 * Returns a WAV file that contains only this slice: the same file if it contains nothing else, otherwise a new one at
 * `path`.
 */
export async function toFile(
  { wavPath, startMs, endMs }: WavSlice,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const { size } = await stat(wavPath);
  if (startMs === 0 && size <= offsetOf(endMs)) return { path: wavPath, bytes: size };
  const [start, end] = [offsetOf(startMs), Math.min(size, offsetOf(endMs))] as const;
  async function* contents(): AsyncGenerator<Uint8Array> {
    yield wavHeader(end - start);
    for await (const chunk of createReadStream(wavPath, { start, end: end - 1 }) as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      yield chunk;
    }
  }
  await writeFile(path, contents(), { flag: 'wx', mode: 0o600 });
  return { path, bytes: headerBytes + end - start };
}

/** Reads WAV while it is written or received: integers of 8 to 32 bits or floats, mono or stereo, as mono s16. */
import { createByteReader, type ByteReader } from './byte-reader.ts';

/** The bytes are no WAV file that can be read; the message says what they are. */
export class WavError extends Error {
  override readonly name = 'WavError';
}

export interface WavLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly encoding: Encoding;
  /** Length of the samples; Infinity if unknown. */
  readonly bytes: number;
}

interface Encoding {
  readonly width: number;
  /** A sample, scaled to 16 bits. */
  readonly read: (view: DataView, offset: number) => number;
}

export const signed16: Encoding = { width: 2, read: (view, offset) => view.getInt16(offset, true) };

/** WAV's: 1 are integers, 3 floats. Those of 8 bits have no sign; of the long ones the upper 16 bits count. */
const encodings: Readonly<Record<string, Encoding>> = {
  '1/8': { width: 1, read: (view, offset) => (view.getUint8(offset) - 128) * 256 },
  '1/16': signed16,
  '1/24': { width: 3, read: (view, offset) => view.getInt16(offset + 1, true) },
  '1/32': { width: 4, read: (view, offset) => view.getInt16(offset + 2, true) },
  '3/32': { width: 4, read: (view, offset) => view.getFloat32(offset, true) * 32_767 },
};
const extensible = 0xfffe;

export interface WavSound {
  readonly sampleRate: number;
  readonly samples: AsyncGenerator<Int16Array>;
}

/** Resolves once the header is there; undefined when no byte comes. Throws a `WavError`, also while samples are read. */
export async function readWav(source: AsyncIterable<Uint8Array>): Promise<WavSound | undefined> {
  const bytes = createByteReader(source);
  const head = await bytes.peek(12);
  if (head.length === 0) return undefined;
  if (!isWav(head)) throw new WavError('not a WAV file');
  const layout = await readWavHeader(bytes);
  return { sampleRate: layout.sampleRate, samples: readSamples(bytes, layout) };
}

export function isWav(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE';
}

export async function readWavHeader(bytes: ByteReader): Promise<WavLayout> {
  await bytes.skip(12);
  let format: Omit<WavLayout, 'bytes'> | undefined;
  for (;;) {
    const head = await bytes.peek(8);
    if (head.length < 8) throw new WavError('a WAV without samples');
    const id = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    await bytes.skip(8);
    if (id === 'data') {
      if (!format) throw new WavError('a WAV without a format');
      return { ...format, bytes: isUnknown(size) ? Infinity : size };
    }
    if (id === 'fmt ') format = readFormat(await bytes.peek(Math.min(size, 40)));
    await bytes.skip(size + (size % 2));
  }
}

/** A program that writes to a pipe does not know the length yet: 0, or about the largest that there is, signed or not. */
function isUnknown(size: number): boolean {
  return size === 0 || size >= 0x7fff_0000;
}

function readFormat(chunk: Buffer): Omit<WavLayout, 'bytes'> {
  if (chunk.length < 16) throw new WavError('a WAV whose format is cut');
  const tag = chunk.readUInt16LE(0);
  const code = tag === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const [channels, sampleRate, bits] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)];
  const encoding = encodings[`${code}/${bits}`];
  if (!encoding || channels < 1 || channels > 2 || sampleRate < 8000 || sampleRate > 48_000) {
    throw new WavError(`a WAV of format ${code}, ${bits} bits, ${channels} channels, ${sampleRate} Hz`);
  }
  return { sampleRate, channels, encoding };
}

export async function* readSamples(bytes: ByteReader, layout: WavLayout): AsyncGenerator<Int16Array> {
  const frameBytes = layout.channels * layout.encoding.width;
  let left = layout.bytes;
  let carried = Buffer.alloc(0);
  for await (const chunk of bytes.rest()) {
    const own = Buffer.concat([carried, chunk.subarray(0, left)]);
    left -= Math.min(left, chunk.length);
    const whole = own.length - (own.length % frameBytes);
    carried = own.subarray(whole);
    if (whole > 0) yield toSamples(own.subarray(0, whole), layout);
    if (left === 0) return; // other chunks may follow
  }
  if (Number.isFinite(left)) throw new WavError(`${left} bytes of the samples are missing`);
}

function toSamples(bytes: Buffer, { channels, encoding: { width, read } }: WavLayout): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const samples = new Int16Array(bytes.length / width / channels);
  for (let frame = 0; frame < samples.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += read(view, (frame * channels + channel) * width);
    samples[frame] = Math.max(-32_768, Math.min(32_767, Math.round(sum / channels)));
  }
  return samples;
}

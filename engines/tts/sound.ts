/** Reads samples from raw PCM and from streamed WAV. */
import { EngineError, type Pcm } from '../contract/index.ts';
import { notAudio } from './answer.ts';
import type { ByteReader } from './byte-reader.ts';
import { isSurelyMp3 } from './mp3.ts';

interface Layout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly encoding: Encoding;
  /** Length of the samples; Infinity if unknown. */
  readonly bytes: number;
}

interface Encoding {
  readonly width: number;
  /** Reads a sample, scaled to 16 bits. */
  readonly read: (view: DataView, offset: number) => number;
}

const signed16: Encoding = { width: 2, read: (view, offset) => view.getInt16(offset, true) };

/** WAV encodings as format/bits: format 1 is integer, 3 float. 8 bits are unsigned; for 24 and 32 the upper 16 are used. */
const encodings: Readonly<Record<string, Encoding>> = {
  '1/8': { width: 1, read: (view, offset) => (view.getUint8(offset) - 128) * 256 },
  '1/16': signed16,
  '1/24': { width: 3, read: (view, offset) => view.getInt16(offset + 1, true) },
  '1/32': { width: 4, read: (view, offset) => view.getInt16(offset + 2, true) },
  '3/32': { width: 4, read: (view, offset) => view.getFloat32(offset, true) * 32_767 },
};
const extensible = 0xfffe;

/** Detects WAV or raw PCM; `rate` is the sample rate of raw PCM. Throws `provider-bad-response`. */
export async function readSound(bytes: ByteReader, rate: number): Promise<Pcm> {
  const head = await bytes.peek(16);
  if (!isWav(head)) await expectSamples(bytes, head);
  const raw: Layout = { sampleRate: rate, channels: 1, encoding: signed16, bytes: Infinity };
  const layout = isWav(head) ? await readWavHeader(bytes) : raw;
  if ((await bytes.peek(1)).length === 0) throw notAudio('no samples');
  return { sampleRate: layout.sampleRate, samples: samplesOf(bytes, layout) };
}

function isWav(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE';
}

/** Some providers ignore the requested format; encoded audio played as samples would be noise at full volume. */
async function expectSamples(bytes: ByteReader, head: Buffer): Promise<void> {
  if (looksLikeText(head)) throw notAudio('text');
  if (/^(OggS|fLaC)/.test(head.toString('latin1')) || (await isSurelyMp3(bytes))) {
    throw notAudio('encoded audio instead of samples; fix the setting `formats`');
  }
}

/** Detects an error page with a wrong media type. Speech starts quietly; as samples, text would be very loud. */
function looksLikeText(head: Buffer): boolean {
  return /^\s*[!-~][\s -~]*$/.test(head.toString('latin1'));
}

async function readWavHeader(bytes: ByteReader): Promise<Layout> {
  await bytes.skip(12);
  let format: Omit<Layout, 'bytes'> | undefined;
  for (;;) {
    const head = await bytes.peek(8);
    if (head.length < 8) throw notAudio('a WAV without samples');
    const id = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    await bytes.skip(8);
    if (id === 'data') {
      if (!format) throw notAudio('a WAV without a format');
      return { ...format, bytes: isUnknown(size) ? Infinity : size };
    }
    if (id === 'fmt ') format = readFormat(await bytes.peek(Math.min(size, 40)));
    await bytes.skip(size + (size % 2));
  }
}

/** Streaming servers write a placeholder for the unknown length: 0, or about the signed or unsigned maximum. */
function isUnknown(size: number): boolean {
  return size === 0 || size >= 0x7fff_0000;
}

function readFormat(chunk: Buffer): Omit<Layout, 'bytes'> {
  if (chunk.length < 16) throw notAudio('a WAV with a truncated fmt chunk');
  const tag = chunk.readUInt16LE(0);
  const code = tag === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const [channels, sampleRate, bits] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)];
  const encoding = encodings[`${code}/${bits}`];
  if (!encoding || channels < 1 || channels > 2 || sampleRate < 8000 || sampleRate > 48_000) {
    throw notAudio(`a WAV of format ${code}, ${bits} bits, ${channels} channels, ${sampleRate} Hz`);
  }
  return { sampleRate, channels, encoding };
}

async function* samplesOf(bytes: ByteReader, layout: Layout): AsyncGenerator<Int16Array> {
  const frameBytes = layout.channels * layout.encoding.width;
  let left = layout.bytes;
  let carried = Buffer.alloc(0);
  for await (const chunk of bytes.rest()) {
    const own = Buffer.concat([carried, chunk.subarray(0, left)]);
    left -= Math.min(left, chunk.length);
    const whole = own.length - (own.length % frameBytes);
    carried = own.subarray(whole);
    if (whole > 0) yield toSamples(own.subarray(0, whole), layout);
    if (left === 0) return; // ignore further WAV chunks
  }
  if (Number.isFinite(left)) {
    const cause = new Error(`${left} bytes of the samples are missing`);
    throw new EngineError('provider-bad-response', 'The audio of the provider ended early.', { cause });
  }
}

function toSamples(bytes: Buffer, { channels, encoding: { width, read } }: Layout): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const samples = new Int16Array(bytes.length / width / channels);
  for (let frame = 0; frame < samples.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += read(view, (frame * channels + channel) * width);
    samples[frame] = Math.max(-32_768, Math.min(32_767, Math.round(sum / channels)));
  }
  return samples;
}

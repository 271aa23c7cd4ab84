import { undecodable } from './failures.ts';
import { pieces, readAt, withFile } from './file-bytes.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import { deinterleave, sampleFormats, type SampleFormat, type SampleFormatName } from './sample-formats.ts';

const framesPerPiece = 4096;

interface Chunk {
  readonly id: string;
  /** Position of the content in the file, and the length from its header. */
  readonly start: number;
  readonly bytes: number;
}

interface Layout {
  readonly format: SampleFormat;
  readonly channels: number;
  readonly sampleRate: number;
}

/** Decodes an uncompressed WAV file, piece by piece. */
export function readWav(path: string): Iterable<Pcm> {
  return withFile(path, function* (file, fileBytes) {
    let layout: Layout | undefined;
    for (const chunk of chunks(file, fileBytes)) {
      if (chunk.id === 'fmt ') layout = readLayout(file, chunk);
      if (chunk.id !== 'data') continue;
      if (layout === undefined) throw undecodable('the wav file has no format chunk before its data');
      yield* readSamples(file, chunk.start, dataEnd(chunk, fileBytes), layout);
      return;
    }
    throw undecodable('the wav file has no audio data');
  });
}

function* chunks(file: number, fileBytes: number): Generator<Chunk> {
  const headerBytes = 8;
  for (let position = 12; position + headerBytes <= fileBytes;) {
    const header = viewOf(readAt(file, position, headerBytes));
    const start = position + headerBytes;
    const bytes = header.getUint32(4, true);
    yield { id: text(header, 0, 4), start, bytes };
    position = start + bytes + (bytes % 2);
  }
}

/** Writers that cannot seek leave 0 or the maximum as the length: then, as in a truncated file, the data ends with the file. */
function dataEnd(data: Chunk, fileBytes: number): number {
  return data.bytes === 0 ? fileBytes : Math.min(data.start + data.bytes, fileBytes);
}

function* readSamples(file: number, start: number, end: number, layout: Layout): Generator<Pcm> {
  const { format, channels, sampleRate } = layout;
  for (const piece of pieces(file, start, end, framesPerPiece * format.bytes * channels)) {
    yield { sampleRate, channels: deinterleave(piece, format, channels) };
  }
}

function readLayout(file: number, chunk: Chunk): Layout {
  const view = viewOf(readAt(file, chunk.start, Math.min(chunk.bytes, 40)));
  if (view.byteLength < 16) throw undecodable('the wav file is damaged');
  const channels = view.getUint16(2, true);
  const sampleRate = view.getUint32(4, true);
  assertPlausible(sampleRate, channels);
  return { format: sampleFormats[formatName(encodingOf(view), view.getUint16(14, true))], channels, sampleRate };
}

const extensible = 0xfffe;

/** In the extensible header, the encoding is in the first two bytes of a GUID. */
function encodingOf(view: DataView): number {
  const encoding = view.getUint16(0, true);
  return encoding === extensible && view.byteLength >= 26 ? view.getUint16(24, true) : encoding;
}

const encodings: Readonly<Record<number, Readonly<Record<number, SampleFormatName>>>> = {
  1: { 8: 'pcm-u8', 16: 'pcm-s16', 24: 'pcm-s24', 32: 'pcm-s32' },
  3: { 32: 'pcm-f32', 64: 'pcm-f64' },
  6: { 8: 'alaw' },
  7: { 8: 'ulaw' },
};

function formatName(encoding: number, bits: number): SampleFormatName {
  const name = encodings[encoding]?.[8 * Math.ceil(bits / 8)];
  if (name === undefined) {
    throw undecodable(`the wav file's encoding (format ${encoding}, ${bits} bits per sample) is not supported`);
  }
  return name;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function text(view: DataView, start: number, length: number): string {
  return Buffer.from(view.buffer, view.byteOffset + start, length).toString('latin1');
}

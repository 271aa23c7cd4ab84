/**
 * Marks encoded speech as synthetic, with `synthetic=true` in the metadata of its format. pcm has no metadata, and aac
 * (ADTS) has none that players expect.
 */

const name = 'synthetic';
const value = 'true';
const comment = Buffer.from(`${name}=${value}`);

/** ffmpeg options that add the comment to Opus and FLAC. */
export const ffmpegMark = ['-metadata', comment.toString()];

// ------------------------------------------------------------------------------------------------------------- mp3

/**
 * An ID3v2.3 tag with one frame, `TXXX`, in Latin-1. Its sizes are below 128, for which all size encodings of ID3v2 are
 * the same.
 */
const id3Tag = tagOf(Buffer.from(`\0${name}\0${value}`));

function tagOf(text: Buffer): Buffer {
  const frame = Buffer.concat([Buffer.from('TXXX\0\0\0'), Buffer.of(text.length, 0, 0), text]);
  return Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0'), Buffer.of(frame.length), frame]);
}

/** Adds the tag before the first bytes of a stream. */
export function markMp3(beginning: Uint8Array): Uint8Array {
  return Buffer.concat([id3Tag, beginning]);
}

// ------------------------------------------------------------------------------------------------------------- wav

/** A `LIST` chunk of type `INFO`. It comes after the samples, because many programs expect a 44-byte header. */
export const wavMark = chunkOf('LIST', Buffer.concat([Buffer.from('INFO'), chunkOf('ICMT', textOf(comment))]));

function chunkOf(id: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(id), size, content]);
}

/** Appends one zero byte, or two if the length of the text is even. */
function textOf(text: Buffer): Buffer {
  return Buffer.concat([text, Buffer.alloc(2 - (text.length % 2))]);
}

// ------------------------------------------------------------------------------------------------------------- ogg

/** Offsets in a page header (RFC 3533, section 6) of the checksum, the number of segments, and their lengths. */
const checksumAt = 22;
const segmentsAt = 26;
const lengthsAt = 27;

/**
 * Adds the comment to Vorbis, because the encoder cannot do so. `beginning` must include the second page of the stream,
 * which starts with the comment packet.
 */
export function markOgg(beginning: Uint8Array): Uint8Array {
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.length);
  const start = pageBytes(bytes);
  const end = start + pageBytes(bytes.subarray(start));
  return Buffer.concat([bytes.subarray(0, start), withComment(bytes.subarray(start, end)), bytes.subarray(end)]);
}

function pageBytes(bytes: Buffer): number {
  const lengths = bytes.subarray(lengthsAt, lengthsAt + bytes.readUInt8(segmentsAt));
  return lengthsAt + lengths.length + sum(lengths);
}

/** The first segment shorter than 255 bytes ends the packet. */
function withComment(page: Buffer): Buffer {
  const lengths = page.subarray(lengthsAt, lengthsAt + page.readUInt8(segmentsAt));
  const body = page.subarray(lengthsAt + lengths.length);
  const segments = lengths.findIndex((length) => length < 255) + 1;
  const packetBytes = sum(lengths.subarray(0, segments));
  const packet = addComment(body.subarray(0, packetBytes));
  const packetLengths = [...Array<number>(Math.floor(packet.length / 255)).fill(255), packet.length % 255];
  const newLengths = Buffer.of(...packetLengths, ...lengths.subarray(segments));
  const head = Buffer.from(page.subarray(0, lengthsAt));
  head.writeUInt8(newLengths.length, segmentsAt);
  head.writeUInt32LE(0, checksumAt);
  const marked = Buffer.concat([head, newLengths, packet, body.subarray(packetBytes)]);
  marked.writeUInt32LE(checksumOf(marked), checksumAt);
  return marked;
}

/**
 * The packet contains a 7-byte common header, the vendor string, the number of comments, and the comments (Vorbis I,
 * section
 * 5.2).
 */
function addComment(packet: Buffer): Buffer {
  const countAt = 11 + packet.readUInt32LE(7);
  const head = Buffer.from(packet.subarray(0, countAt + 4));
  head.writeUInt32LE(head.readUInt32LE(countAt) + 1, countAt);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(comment.length);
  return Buffer.concat([head, length, comment, packet.subarray(countAt + 4)]);
}

/** CRC-32 with the polynomial 0x04c11db7, not reflected, as specified for Ogg. */
function checksumOf(page: Buffer): number {
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c1_1db7 : 0);
  }
  return crc >>> 0;
}

function sum(lengths: Uint8Array): number {
  return lengths.reduce((total, length) => total + length, 0);
}

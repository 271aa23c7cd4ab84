/** The part of MPEG audio (ISO 11172-3, 13818-3) that is needed to concatenate mp3 streams. */
import type { ByteReader } from '../../lib/byte-reader.ts';
import { readMp3Frame } from '../../lib/mp3-frame.ts';

const headerBytes = 10;

/** Whether a stream starts with an ID3v2 tag or a frame header. */
export function isMp3(head: Buffer): boolean {
  return isId3(head) || frameLength(head) !== undefined;
}

/** A stricter check for streams that may be raw samples, which may look like one frame header, but not like two. */
export async function isSurelyMp3(stream: ByteReader): Promise<boolean> {
  const head = await stream.peek(headerBytes);
  const length = frameLength(head);
  if (isId3(head) || length === undefined) return isId3(head);
  return frameLength((await stream.peek(length + 4)).subarray(length)) !== undefined;
}

function isId3(head: Buffer): boolean {
  return head.toString('latin1', 0, 3) === 'ID3';
}

/**
 * Yields the frames of a stream, without tags and without the frame that contains the length (Xing, Info or VBRI), which
 * players would apply to the whole concatenated stream.
 */
export async function* framesOf(stream: ByteReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const head = await stream.peek(headerBytes);
    if (head.length < headerBytes || !isId3(head)) break;
    await stream.skip(tagLength(head));
  }
  const length = frameLength(await stream.peek(4));
  if (length !== undefined && isInfo(await stream.peek(length))) await stream.skip(length);
  yield* withoutTags(stream.rest());
}

/** Removes ID3 and APE tags between and after the frames. Buffers only incomplete frames and possible tags. */
async function* withoutTags(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  let toSkip = 0;
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk.subarray(toSkip)]);
    toSkip = Math.max(0, toSkip - chunk.length);
    while (held.length > 0) {
      const end = endOfFrames(held);
      if (end > 0) yield held.subarray(0, end);
      const tag = tagLengthAt(held.subarray(end));
      toSkip = Math.max(0, end + tag - held.length);
      held = held.subarray(end + tag);
      if (tag === 0) break;
    }
  }
  const rest = withoutTrailingTags(held);
  if (rest.length > 0) yield rest;
}

/** Maximum length of unknown bytes after a frame that may be a tag without a header, such as APEv1. */
const maxUnknownBytes = 8_192;

/** Offset of the first incomplete frame, tag or possible tag. */
function endOfFrames(bytes: Buffer): number {
  for (let end = 0; ;) {
    const length = frameLength(bytes.subarray(end));
    if (length !== undefined) {
      if (end + length > bytes.length) return end;
      end += length;
      continue;
    }
    if (tagLengthAt(bytes.subarray(end)) > 0) return end;
    const next = findFrames(bytes, end);
    if (next === undefined) return bytes.length - end > maxUnknownBytes ? bytes.length : end;
    end = next;
  }
}

/** Offset of the next frame: requires two headers at the right distance, since one may be a coincidence. */
function findFrames(bytes: Buffer, from: number): number | undefined {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const length = frameLength(bytes.subarray(at));
    if (length !== undefined && frameLength(bytes.subarray(at + length)) !== undefined) return at;
  }
  return undefined;
}

const apeMark = 'APETAGEX';
const apeHeaderBytes = 32;
const id3v1Bytes = 128;
/** The ID3v1 extension, which precedes the tag. */
const enhancedBytes = 227;

/** Length of the tag at the start of `bytes`; 0 if they do not start with a tag, or if too few have arrived. */
function tagLengthAt(bytes: Buffer): number {
  if (bytes.length >= headerBytes && isId3(bytes)) return tagLength(bytes);
  const mark = bytes.toString('latin1', 0, apeMark.length);
  if (bytes.length >= apeHeaderBytes && mark === apeMark) return isApeHeader(bytes) ? apeLength(bytes) : apeHeaderBytes;
  if (bytes.length < 4 || !mark.startsWith('TAG')) return 0;
  return mark.startsWith('TAG+') ? enhancedBytes : id3v1Bytes;
}

/** Removes tags that are recognized by their end: ID3v1, APE, and ID3v2.4 with a footer. */
function withoutTrailingTags(bytes: Buffer): Buffer {
  for (let rest = bytes; ;) {
    const length = tagLengthBefore(rest);
    if (length === 0) return rest;
    rest = rest.subarray(0, Math.max(0, rest.length - length));
  }
}

function tagLengthBefore(bytes: Buffer): number {
  if (marksEnd(bytes, id3v1Bytes, 'TAG')) return id3v1Bytes;
  if (marksEnd(bytes, enhancedBytes, 'TAG+')) return enhancedBytes;
  if (marksEnd(bytes, apeHeaderBytes, apeMark)) return apeLength(bytes.subarray(-apeHeaderBytes));
  return marksEnd(bytes, headerBytes, '3DI') ? tagLength(bytes.subarray(-headerBytes)) : 0;
}

/** Whether the last `length` bytes start with the mark. */
function marksEnd(bytes: Buffer, length: number, mark: string): boolean {
  return bytes.length >= length && bytes.subarray(-length).toString('latin1', 0, mark.length) === mark;
}

/**
 * Returns the length given in the header or the footer. The size field covers the items and the footer; a flag
 * indicates whether there is a header.
 */
function apeLength(header: Buffer): number {
  const [size, flags] = [header.readUInt32LE(12), header.readUInt32LE(20)];
  return Math.max(size, apeHeaderBytes) + (flags >>> 31 === 1 ? apeHeaderBytes : 0);
}

/** Header and footer have the same layout and differ in this flag. */
function isApeHeader(bytes: Buffer): boolean {
  return (bytes.readUInt32LE(20) & 0x2000_0000) !== 0;
}

/**
 * Returns the length of the header, the content (seven bits per byte in the size field), and a footer if its flag is
 * set (ID3v2.4, section 3.1).
 */
function tagLength(head: Buffer): number {
  const [flags = 0, a = 0, b = 0, c = 0, d = 0] = head.subarray(5);
  const content = ((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f);
  return headerBytes + content + ((flags & 0x10) === 0 ? 0 : headerBytes);
}

/** The marker follows the header and the side information, which has at most 32 bytes. */
function isInfo(frame: Buffer): boolean {
  return /Xing|Info|VBRI/.test(frame.toString('latin1', 4, 44));
}

/** Returns the length in bytes; undefined if there is no layer III frame header. */
function frameLength(head: Buffer): number | undefined {
  return head.length < 4 ? undefined : readMp3Frame(head.readUInt32BE(0))?.bytes;
}

/** As much of MPEG audio (ISO 11172-3, 13818-3) as it takes to join streams of it. */
import type { ByteReader } from '../../lib/byte-reader.ts';

const headerBytes = 10;

/** Whether a stream begins like mp3: with an ID3v2 tag, or the header of a frame. */
export function isMp3(head: Buffer): boolean {
  return isId3(head) || frameLength(head) !== undefined;
}

/** The same of what may be raw samples: these may look like the header of one frame, but not like those of two. */
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
 * The frames of a stream without what speaks of this stream alone: tags, and the frame that says how long it is (Xing,
 * Info or VBRI). A player would take that for the length of all that follows.
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

/** Drops ID3 and APE tags between and behind the frames. Holds back no whole frame, only what may be a tag. */
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

/** Bytes behind a frame that may be a tag without a header, such as APEv1; what is longer is none. */
const longestUnknown = 8_192;

/** Where a frame that is not there as a whole begins, or something that is, or may be, a tag. */
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
    if (next === undefined) return bytes.length - end > longestUnknown ? bytes.length : end;
    end = next;
  }
}

/** Where the frames go on: two headers at the right distance, since one may be chance. */
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
/** The ID3v1 extension stands before the tag itself. */
const enhancedBytes = 227;

/** Length of the tag that begins here; 0 when there is none, or when too little of it has arrived. */
function tagLengthAt(bytes: Buffer): number {
  if (bytes.length >= headerBytes && isId3(bytes)) return tagLength(bytes);
  const mark = bytes.toString('latin1', 0, apeMark.length);
  if (bytes.length >= apeHeaderBytes && mark === apeMark) return isApeHeader(bytes) ? apeLength(bytes) : apeHeaderBytes;
  if (bytes.length < 4 || !mark.startsWith('TAG')) return 0;
  return mark.startsWith('TAG+') ? enhancedBytes : id3v1Bytes;
}

/** Without the tags that are known by their end: ID3v1, APE, and ID3v2.4 with a footer. */
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

/** Whether the last `length` bytes begin with the mark. */
function marksEnd(bytes: Buffer, length: number, mark: string): boolean {
  return bytes.length >= length && bytes.subarray(-length).toString('latin1', 0, mark.length) === mark;
}

/** By its header or its footer. The size counts the items and the footer; the flags say whether there is a header, too. */
function apeLength(header: Buffer): number {
  const [size, flags] = [header.readUInt32LE(12), header.readUInt32LE(20)];
  return Math.max(size, apeHeaderBytes) + (flags >>> 31 === 1 ? apeHeaderBytes : 0);
}

/** Not a footer, which looks the same. */
function isApeHeader(bytes: Buffer): boolean {
  return (bytes.readUInt32LE(20) & 0x2000_0000) !== 0;
}

/** Header, content in seven bits a byte, and a footer when its flag is set (ID3v2.4, section 3.1). */
function tagLength(head: Buffer): number {
  const [flags = 0, a = 0, b = 0, c = 0, d = 0] = head.subarray(5);
  const content = ((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f);
  return headerBytes + content + ((flags & 0x10) === 0 ? 0 : headerBytes);
}

/** The marks stand behind the header and the side information, which has at most 32 bytes. */
function isInfo(frame: Buffer): boolean {
  return /Xing|Info|VBRI/.test(frame.toString('latin1', 4, 44));
}

/** kbit/s of layer III by index, of MPEG 1 and of MPEG 2 and 2.5; 0 is "free", which no encoder of speech writes. */
const bitRates = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  two: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const sampleRates = [44_100, 48_000, 32_000] as const;
/** Of the sample rate, by the two bits of the version; 1 is reserved. */
const divisors = [4, undefined, 2, 1] as const;

/** In bytes; undefined when there is no header of a layer III frame. */
function frameLength(head: Buffer): number | undefined {
  if (head.length < 4) return undefined;
  const bits = head.readUInt32BE(0);
  if (bits >>> 21 !== 0x7ff || ((bits >>> 17) & 3) !== 1) return undefined;
  const divisor = divisors[(bits >>> 19) & 3];
  const sampleRate = sampleRates[(bits >>> 10) & 3];
  const kilobits = (divisor === 1 ? bitRates.one : bitRates.two)[(bits >>> 12) & 15] ?? 0;
  if (divisor === undefined || sampleRate === undefined || kilobits === 0) return undefined;
  const padding = (bits >>> 9) & 1;
  return Math.floor(((divisor === 1 ? 144_000 : 72_000) * kilobits * divisor) / sampleRate) + padding;
}

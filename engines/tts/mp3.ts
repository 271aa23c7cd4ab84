/** As much of MPEG audio (ISO 11172-3, 13818-3) as it takes to join streams of it. */
import type { ByteReader } from './byte-reader.ts';

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
 * The frames of a stream without what speaks of this stream alone: ID3v2 tags, and the frame that says how long it is
 * (Xing, Info or VBRI). A player would take that for the length of all that follows.
 */
export async function* framesOf(stream: ByteReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const head = await stream.peek(headerBytes);
    if (head.length < headerBytes || !isId3(head)) break;
    await stream.skip(tagLength(head));
  }
  const length = frameLength(await stream.peek(4));
  if (length !== undefined && isInfo(await stream.peek(length))) await stream.skip(length);
  yield* stream.rest();
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

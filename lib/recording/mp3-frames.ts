/** Finds the frames of an MP3 file. Skips tags, padding, and the remains of cut frames, as ffmpeg does. */
import { haveSameFormat, readMp3Frame, type Mp3Frame } from '../mp3-frame.ts';
import { damagedBeforeEnd, DamagedRecording } from './damage.ts';
import { createReader } from './file-bytes.ts';

/** Consecutive frames of one format. */
export interface Mp3Piece {
  /** Hz. */
  readonly sampleRate: number;
  readonly bytes: Uint8Array;
}

/** Small, so that a decoded piece stays small even at the lowest bit rate. */
const pieceBytes = 4096;

/** Throws a `DamagedRecording` when most of the file, or too much before its end, is not frames. */
export function* mp3Pieces(file: number, fileBytes: number): Generator<Mp3Piece> {
  let frames: FrameBytes[] = [];
  let length = 0;
  for (const next of mp3Frames(file, fileBytes)) {
    const [first] = frames;
    if (first && (!haveSameFormat(first.frame, next.frame) || length + next.bytes.length > pieceBytes)) {
      yield pieceOf(frames, first);
      frames = [];
      length = 0;
    }
    frames.push(next);
    length += next.bytes.length;
  }
  if (frames[0]) yield pieceOf(frames, frames[0]);
}

function pieceOf(frames: readonly FrameBytes[], { frame: { sampleRate } }: FrameBytes): Mp3Piece {
  return { sampleRate, bytes: Buffer.concat(frames.map(({ bytes }) => bytes)) };
}

interface FrameBytes {
  readonly frame: Mp3Frame;
  readonly bytes: Uint8Array;
}

/** Throws a `DamagedRecording` as `mp3Pieces` does. */
export function* mp3Frames(file: number, fileBytes: number): Generator<FrameBytes> {
  const read = createReader(file);
  const frameAt = (position: number) => readFrame(read(position, 4));
  /** The first frame after something else counts only if another follows it or the file ends. */
  const isConfirmed = (frame: Mp3Frame, end: number) => {
    const next = frameAt(end);
    return end === fileBytes || (next !== undefined && haveSameFormat(frame, next));
  };
  let inFrames = 0;
  let elsewhere = 0;
  let longest = 0;
  /** The data between the last frame and this position; undefined within frames. */
  let between: { bytes: number; hasTag: boolean } | undefined = { bytes: 0, hasTag: true };
  for (let position = 0; position < fileBytes;) {
    const frame = frameAt(position);
    if (frame && (!between || isConfirmed(frame, position + frame.bytes))) {
      const bytes = read(position, frame.bytes);
      if (between && !between.hasTag && between.bytes > maxCutFrames * longest && !isHeader(bytes))
        throw damagedBeforeEnd('mp3');
      between = undefined;
      yield { frame, bytes };
      inFrames += frame.bytes;
      longest = Math.max(longest, frame.bytes);
      position += frame.bytes;
      continue;
    }
    between ??= { bytes: 0, hasTag: false };
    const length = tagLength(read(position, tagHeaderBytes));
    const tag = position + length > fileBytes ? 0 : length;
    const skipped = read(position, tag === 0 ? skipBytes : 0);
    const next = skipped.findIndex((byte, i) => i > 0 && initials.has(byte));
    const other = next === -1 ? skipped : skipped.subarray(0, next);
    elsewhere += other.reduce((sum, byte) => sum + Math.sign(byte), 0); // zeros are padding
    between.hasTag ||= tag > 0;
    between.bytes += other.length;
    position += tag + other.length;
  }
  if (inFrames < elsewhere) throw new DamagedRecording('most of the mp3 file is not MPEG audio layer III');
}

/** Where recordings are joined, the last frame of one and the first of the next may be cut. */
const maxCutFrames = 2;

/**
 * The first frame of a recording may contain its length instead of audio. Any data before it belongs to another
 * recording.
 */
function isHeader(frame: Uint8Array): boolean {
  return /Xing|Info|VBRI/.test(Buffer.from(frame.subarray(0, maxHeaderBytes)).toString('latin1'));
}

const maxHeaderBytes = 64;

/** Number of bytes that are searched at a time where no frame begins. */
const skipBytes = 1024;

function readFrame(head: Uint8Array): Mp3Frame | undefined {
  if (head.length < 4 || head[0] !== 0xff) return undefined;
  return readMp3Frame(new DataView(head.buffer, head.byteOffset).getUint32(0));
}

const tagHeaderBytes = 32;
const id3v1Bytes = 128;
/** The first bytes of frames and tags. */
const initials = new Set(Buffer.from('\xffIAT', 'latin1'));

/** Bytes of the tag that begins here; 0 for anything else. */
function tagLength(bytes: Uint8Array): number {
  if (bytes.length < tagHeaderBytes) return 0;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, tagHeaderBytes);
  const name = head.toString('latin1', 0, 8);
  if (name.startsWith('ID3')) return 10 + head.subarray(6, 10).reduce((sum, digit) => sum * 128 + (digit & 0x7f), 0);
  if (name === 'APETAGEX') return tagHeaderBytes + head.readUInt32LE(12); // the size field excludes the header
  return name.startsWith('TAG') ? id3v1Bytes : 0;
}

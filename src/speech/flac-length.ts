/** Measures the length of FLAC by its frame headers (RFC 9639, 9.1): the header of a stream does not have it. */

/** "fLaC", a block header, and the part of the first block that has the sample rate. */
const infoBytes = 21;
/** The longest header of a frame. */
const headerBytes = 16;

export function createFlacMeter() {
  let held = Buffer.alloc(0);
  let rate: number | undefined;
  let counted: Counted = { frames: 0, samples: 0 };
  return {
    take(chunk: Uint8Array): void {
      held = Buffer.concat([held, chunk]);
      if (rate === undefined) {
        if (held.length < infoBytes) return;
        rate = held.toString('latin1', 0, 4) === 'fLaC' ? held.readUIntBE(18, 3) >>> 4 : 0;
      }
      const end = rate === 0 ? held.length : Math.max(0, held.length - headerBytes);
      if (rate > 0) counted = countFrames(held, end, counted);
      held = held.subarray(end);
    },
    ms(): number {
      if (!rate) return 0;
      const rest = Buffer.concat([held, Buffer.alloc(headerBytes)]);
      return (countFrames(rest, held.length, counted).samples * 1000) / rate;
    },
  };
}

interface Counted {
  readonly frames: number;
  readonly samples: number;
}

/** Adds the frames that begin before `end`. */
function countFrames(bytes: Buffer, end: number, { frames, samples }: Counted): Counted {
  for (let at = bytes.indexOf(0xff); at >= 0 && at < end; at = bytes.indexOf(0xff, at + 1)) {
    const frame = readFrame(bytes.subarray(at, at + headerBytes));
    // The number must be the expected one: bytes within a frame may look like a header.
    const expected = frame?.isVariable ? samples : frames;
    if (frame?.number !== expected) continue;
    frames += 1;
    samples += frame.samples;
  }
  return { frames, samples };
}

interface Frame {
  /** The number of the frame or, with blocks of variable size, of its first sample. */
  readonly number: number;
  readonly isVariable: boolean;
  readonly samples: number;
}

/** Returns undefined if the bytes are not a frame header, whose last byte is its checksum. */
function readFrame(bytes: Buffer): Frame | undefined {
  const [, sync = 0, codes = 0] = bytes;
  if ((sync & 0xfe) !== 0xf8) return undefined;
  const numberBytes = Math.max(1, Math.clz32(~((bytes[4] ?? 0) << 24)));
  const [sizeCode, rateCode] = [codes >>> 4, codes & 15];
  const sizeAt = 4 + numberBytes;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const end = sizeAt + sizeBytes + (rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0);
  if (numberBytes > 7 || end >= bytes.length || crc8(bytes.subarray(0, end)) !== bytes[end]) return undefined;
  const samples = sizeBytes > 0 ? bytes.readUIntBE(sizeAt, sizeBytes) + 1 : blockSizes[sizeCode];
  if (samples === undefined) return undefined;
  return { number: readNumber(bytes.subarray(4, sizeAt)), isVariable: (sync & 1) === 1, samples };
}

/** Block sizes by code; for 6 and 7, the size is in the header. */
const blockSizes: readonly (number | undefined)[] = [
  ...[undefined, 192, 576, 1152, 2304, 4608, undefined, undefined],
  ...[256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768],
];

/** The number is coded as in UTF-8, extended to 36 bits. */
function readNumber([first = 0, ...rest]: Buffer): number {
  const lead = rest.length === 0 ? first : first & (0x3f >>> rest.length);
  return rest.reduce((number, byte) => number * 64 + (byte & 0x3f), lead);
}

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}

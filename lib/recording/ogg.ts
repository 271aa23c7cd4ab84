/** Ogg (RFC 3533): a recording is a sequence of links, each with its own streams. */
import { damagedBeforeEnd } from './damage.ts';
import { createReader, findBytes, readAt } from './file-bytes.ts';
import type { FileView } from './file-view.ts';

export interface OggPage {
  readonly position: number;
  readonly bodyAt: number;
  readonly end: number;
  /** The first page of a stream. The first pages of all streams of a link precede their other pages. */
  readonly isFirst: boolean;
  readonly checksum: number;
  /** Number of packets that end on the page, and of samples in the stream up to the end of the last one. */
  readonly packets: number;
  readonly samples: number;
}

const capturePattern = Buffer.from('OggS');
const headerBytes = 27;
const maxHeaderBytes = headerBytes + 255;
const checksumAt = 22;

/** Throws a `DamagedRecording`. */
export function oggSections(file: number, fileBytes: number): FileView[] {
  const sections: FileView[] = [];
  const checksums = { right: 0, wrong: 0 };
  const read = createReader(file);
  let start = 0;
  let isBegun = false;
  for (const { position, end, isFirst, checksum } of oggPages(file, fileBytes)) {
    if (isFirst && isBegun) {
      sections.push({ start, end: position });
      start = position;
    }
    isBegun = !isFirst;
    if (end <= fileBytes) checksums[checksumOf(read(position, end - position)) === checksum ? 'right' : 'wrong'] += 1;
  }
  // Some writers of live streams compute no checksums.
  if (checksums.wrong > 0 && checksums.right > 0) throw damagedBeforeEnd('ogg');
  return [...sections, { start, end: fileBytes }];
}

/** The beginnings of the first packets of all streams in a link: each names its codec. */
export function* oggCodecIds(file: number, { start, end }: FileView): Generator<string> {
  for (const { bodyAt, isFirst } of oggPages(file, end, start)) {
    if (!isFirst) return;
    yield Buffer.from(readAt(file, bodyAt, 8)).toString('latin1');
  }
}

/** For a link with a single stream, yields the pages on which audio packets end; for other links, nothing. */
export function* soundPages(file: number, { start, end }: FileView): Generator<Pick<OggPage, 'packets' | 'samples'>> {
  let streams = 0;
  for (const { isFirst, packets, samples } of oggPages(file, end, start)) {
    if (isFirst && ++streams > 1) return;
    if (packets > 0 && samples > 0) yield { packets, samples };
  }
}

/** Other data, for example a tag, is allowed between links; within a link, it is damage. */
function* oggPages(file: number, fileBytes: number, start = 0): Generator<OggPage> {
  const read = createReader(file);
  const pageAt = (position: number) => readPage(read(position, maxHeaderBytes), position);
  for (let position = start; position < fileBytes;) {
    const page = pageAt(position);
    if (page) yield page;
    position = page?.end ?? findBytes(file, position + 1, fileBytes, capturePattern);
    if (position === -1) return;
    if (!page && pageAt(position)?.isFirst !== true) throw damagedBeforeEnd('ogg');
  }
}

function readPage(bytes: Uint8Array, position: number): OggPage | undefined {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (header.length < headerBytes || !header.subarray(0, 4).equals(capturePattern)) return undefined;
  const length = headerBytes + header[26]!;
  const bodyAt = position + length;
  const end = bodyAt + header.subarray(headerBytes, length).reduce((sum, segment) => sum + segment, 0);
  return {
    ...{ position, bodyAt, end, isFirst: (header[5]! & 2) !== 0, checksum: header.readUInt32LE(checksumAt) },
    packets: header.subarray(headerBytes, length).filter((segment) => segment < 255).length,
    samples: Number(header.readBigInt64LE(6)),
  };
}

/** CRC-32 with the polynomial 04c11db7, neither reflected nor inverted; the checksum field itself counts as zeros. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc;
});

function checksumOf(page: Uint8Array): number {
  let crc = 0;
  for (let i = 0; i < page.length; i++) {
    const byte = i >= checksumAt && i < checksumAt + 4 ? 0 : page[i]!;
    crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ byte]!;
  }
  return crc >>> 0;
}

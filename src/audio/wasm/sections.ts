/**
 * Recordings are joined by concatenating their files, but the demuxer reads only the first. These functions find the
 * sections of a file, each a recording of its own, and throw if they cannot reach the end of the file.
 */
import type { Container } from '../../../engines/contract/index.ts';
import { isWav } from '../../../lib/wav.ts';
import { undecodable } from '../failures.ts';
import { createReader, findBytes, readAt, withFile } from './file-bytes.ts';
import type { FileView, Patch } from './file-view.ts';

/** MP3 has no sections: its frames follow each other, whatever file they are from. */
const finders: Readonly<Record<Exclude<Container, 'mp3'>, (file: number, fileBytes: number) => FileView[]>> = {
  webm: webmSections,
  mp4: mp4Sections,
  ogg: oggSections,
  wav: wavSections,
  flac: flacSections,
};

/** Each section has a decoder of its own. */
const maxSections = 256;

export function sectionsOf(path: string, container: keyof typeof finders): FileView[] {
  const sections = [...withFile(path, finders[container])];
  if (sections.length > maxSections) {
    throw undecodable(`the ${container} file is joined from more than ${maxSections} recordings`);
  }
  return sections;
}

/** Far more than any recording has. */
const maxChunks = 10_000;

/** A section is a RIFF file: its chunks follow each other, each with its length. */
function wavSections(file: number, fileBytes: number): FileView[] {
  const read = createReader(file);
  const starts = [0];
  for (let position = 12, chunks = 0; chunks < maxChunks; chunks++) {
    const header = Buffer.from(read(position, 12));
    if (header.length < 12) break;
    const isFile = isWav(header);
    if (isFile) starts.push(position);
    const length = header.readUInt32LE(4);
    position += isFile ? 12 : 8 + length + (length % 2);
  }
  return starts.map((start, i) => ({ start, end: starts[i + 1] ?? fileBytes }));
}

const marker = Buffer.from('fLaC');

/** The demuxer misses a last frame of less than 16 bytes (silence) unless something follows it. */
const padding = 16;

/** A section begins with its marker, but the first may begin with an ID3 tag. */
function flacSections(file: number, fileBytes: number): FileView[] {
  const sections: FileView[] = [];
  let start = 0;
  for (let at = findStream(file, 0, fileBytes); at !== -1;) {
    const framesAt = skipMetadata(file, at);
    const next = findStream(file, framesAt, fileBytes);
    const end = next === -1 ? fileBytes : next;
    sections.push({ start, end, padding, framesAt });
    start = end;
    at = next;
  }
  return sections;
}

/** The marker is followed by the header of a STREAMINFO block: type 0 and 34 bytes. */
function findStream(file: number, from: number, fileBytes: number): number {
  for (let at = from; ; at++) {
    at = findBytes(file, at, fileBytes, marker);
    if (at === -1) return -1;
    const [type = 1, ...length] = readAt(file, at + marker.length, 4);
    if ((type & 0x7f) === 0 && Buffer.from(length).readUIntBE(0, 3) === 34) return at;
  }
}

/** The position behind the metadata blocks, which may hold anything. The first bit marks the last block. */
function skipMetadata(file: number, streamAt: number): number {
  for (let at = streamAt + marker.length; ;) {
    const header = Buffer.from(readAt(file, at, 4));
    if (header.length < 4) return at;
    at += 4 + header.readUIntBE(1, 3);
    if (header[0]! >= 0x80) return at;
  }
}

/** A section begins with its file type box. The demuxer does not recognize anything before the first one. */
function mp4Sections(file: number, fileBytes: number): FileView[] {
  const starts: number[] = [];
  let hasMovie = true;
  for (const { type, position } of boxes(file, fileBytes)) {
    if (type === 'ftyp' && hasMovie) {
      starts.push(position);
      hasMovie = false;
    }
    hasMovie ||= type === 'moov';
  }
  if (starts.length === 0) starts.push(0);
  return starts.map((start, i) => ({ start, end: starts[i + 1] ?? fileBytes }));
}

/** An hour in fragments of half a second has 14,400 boxes. Reading this maximum takes 70 ms. */
const maxBoxes = 20_000;

/** ISO/IEC 14496-12, 4.2: a length of 1 is followed by a longer one, 0 means to the end of the file. */
function* boxes(file: number, fileBytes: number): Generator<{ readonly type: string; readonly position: number }> {
  for (let position = 0, count = 0; position + 8 <= fileBytes && count < maxBoxes; count++) {
    const header = Buffer.from(readAt(file, position, 16));
    const short = header.readUInt32BE(0);
    const length = short === 1 && header.length === 16 ? Number(header.readBigUInt64BE(8)) : short;
    yield { type: header.toString('latin1', 4, 8), position };
    if (length < 8) return;
    position += length;
  }
}

/** Ogg (RFC 3533): a recording is a sequence of links, each with streams of its own. */
export interface OggPage {
  readonly position: number;
  readonly bodyAt: number;
  readonly end: number;
  /** The first page of a stream. The first pages of all streams of a link precede their other pages. */
  readonly isFirst: boolean;
}

const capturePattern = Buffer.from('OggS');
const headerBytes = 27;
const maxHeaderBytes = headerBytes + 255;

function oggSections(file: number, fileBytes: number): FileView[] {
  const sections: FileView[] = [];
  let start = 0;
  let isBegun = false;
  for (const { position, isFirst } of oggPages(file, fileBytes)) {
    if (isFirst && isBegun) {
      sections.push({ start, end: position });
      start = position;
    }
    isBegun = !isFirst;
  }
  return [...sections, { start, end: fileBytes }];
}

/** The beginnings of the first packets of all streams in a link: each names its codec. */
export function* oggCodecIds(file: number, { start, end }: FileView): Generator<string> {
  for (const { bodyAt, isFirst } of oggPages(file, end, start)) {
    if (!isFirst) return;
    yield Buffer.from(readAt(file, bodyAt, 8)).toString('latin1');
  }
}

/** Between links there may be anything, for example a tag; within a link that is damage. */
function* oggPages(file: number, fileBytes: number, start = 0): Generator<OggPage> {
  const read = createReader(file);
  const pageAt = (position: number) => readPage(read(position, maxHeaderBytes), position);
  for (let position = start; position < fileBytes;) {
    const page = pageAt(position);
    if (page) yield page;
    position = page?.end ?? findBytes(file, position + 1, fileBytes, capturePattern);
    if (position === -1) return;
    if (!page && pageAt(position)?.isFirst !== true) throw undecodable('the ogg file is damaged before its end');
  }
}

function readPage(bytes: Uint8Array, position: number): OggPage | undefined {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (header.length < headerBytes || !header.subarray(0, 4).equals(capturePattern)) return undefined;
  const length = headerBytes + header[26]!;
  const bodyAt = position + length;
  const end = bodyAt + header.subarray(headerBytes, length).reduce((sum, segment) => sum + segment, 0);
  return { position, bodyAt, end, isFirst: (header[5]! & 2) !== 0 };
}

const ebml = 0x1a45dfa3;
const segment = 0x18538067;
const cluster = 0x1f43b675;

/** RFC 9559: element ids of a file, a segment and a cluster, here all on one level. */
const known = new Set([
  ...[ebml, segment, cluster, 0xec, 0xbf], // EBML, ..., Void, CRC-32
  ...[0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367], // SeekHead to Tags
  ...[0xe7, 0x5854, 0xa7, 0xab, 0xa3, 0xa0, 0xaf], // Timestamp to EncryptedBlock
]);

interface ElementHeader {
  readonly id: number;
  /** Position of the content, and the width of the size field before it. */
  readonly start: number;
  readonly sizeWidth: number;
  /** Length of the content; larger than any file if unknown to the writer. */
  readonly size: number;
}

/**
 * mediabunny reads only complete clusters, and searches forever in a file that ends in garbage. A section therefore ends
 * after its last complete element, and the size of its last cluster is patched: browsers write seconds of audio, or all of
 * it, into one cluster.
 */
function webmSections(file: number, fileBytes: number): FileView[] {
  const starts = [0];
  for (let start = findStart(file, 1, fileBytes); start !== -1; start = findStart(file, start + 1, fileBytes)) {
    starts.push(start);
  }
  return starts.map((start, i) => completeElements(file, start, starts[i + 1] ?? fileBytes));
}

/** A header is followed by a segment. The section before it may have been cut anywhere. */
function findStart(file: number, from: number, fileBytes: number): number {
  for (let at = from; ; at++) {
    at = findBytes(file, at, fileBytes, bytesOf(ebml));
    const header = at === -1 ? undefined : readHeader(file, at);
    if (header === undefined || readHeader(file, header.start + header.size)?.id === segment) return at;
  }
}

function completeElements(file: number, start: number, sectionEnd: number): FileView {
  let lastCluster: ElementHeader | undefined;
  let position = start;
  for (;;) {
    const element = readHeader(file, position);
    if (element === undefined || !known.has(element.id) || element.start > sectionEnd) break;
    if (element.id === cluster) lastCluster = element;
    const enter = element.id === segment || element.id === cluster;
    const end = enter ? element.start : element.start + element.size;
    if (end > sectionEnd) break;
    position = end;
  }
  const clusterEnd = lastCluster === undefined ? start : lastCluster.start + lastCluster.size;
  // A cut element or garbage may follow, but neither more audio nor the intact end of the cluster.
  const endsIntact = clusterEnd === sectionEnd || (clusterEnd < sectionEnd && isKnown(file, clusterEnd));
  const isDamaged = position < clusterEnd && endsIntact;
  if (isDamaged || findBytes(file, position + 1, sectionEnd, bytesOf(cluster)) !== -1) {
    throw undecodable('the webm file is damaged before its end');
  }
  return {
    start,
    end: position,
    patch: lastCluster && position < clusterEnd ? shortened(lastCluster, position) : undefined,
  };
}

function isKnown(file: number, position: number): boolean {
  return known.has(readHeader(file, position)?.id ?? 0);
}

function bytesOf(id: number): Uint8Array {
  return Buffer.from(id.toString(16), 'hex');
}

function readHeader(file: number, position: number): ElementHeader | undefined {
  const bytes = readAt(file, position, 12);
  const idWidth = widthOf(bytes[0]);
  const sizeWidth = widthOf(bytes[idWidth]);
  const start = idWidth + sizeWidth;
  if (idWidth > 4 || sizeWidth > 8 || start > bytes.length) return undefined;
  const id = numberFrom(bytes.subarray(0, idWidth));
  bytes[idWidth]! -= 2 ** (8 - sizeWidth); // the marker bit of the width
  return { id, start: position + start, sizeWidth, size: numberFrom(bytes.subarray(idWidth, start)) };
}

/** A variable-length number starts with as many zero bits as it has bytes after the first. */
function widthOf(firstByte = 0): number {
  return Math.clz32(firstByte) - 23;
}

function numberFrom(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

/** The size field of an element that ends at `end`. */
function shortened({ start, sizeWidth }: ElementHeader, end: number): Patch {
  const field = Buffer.alloc(8);
  field.writeBigUInt64BE(BigInt(end - start) | (1n << BigInt(7 * sizeWidth)));
  return { position: start - sizeWidth, bytes: field.subarray(8 - sizeWidth) };
}

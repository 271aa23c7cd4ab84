/** Matroska and WebM (RFC 9559): a tree of elements, each with an id and the size of its content. */
import { damagedBeforeEnd } from './damage.ts';
import { createReader, findBytes, readAt } from './file-bytes.ts';
import type { FileView, Patch } from './file-view.ts';

const ebml = 0x1a45dfa3;
const segment = 0x18538067;
const cluster = 0x1f43b675;
const block = 0xa3;
const blockGroup = 0xa0;

/** Element ids of a file, a segment and a cluster, here all on one level. */
const known = new Set([
  ...[ebml, segment, cluster, 0xec, 0xbf], // EBML, ..., Void, CRC-32
  ...[0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367], // SeekHead to Tags
  ...[0xe7, 0x5854, 0xa7, 0xab, block, blockGroup, 0xaf], // Timestamp to EncryptedBlock
]);

interface ElementHeader {
  readonly id: number;
  /** Position of the content, and the width of the size field before it. */
  readonly start: number;
  readonly sizeWidth: number;
  /** Length of the content; larger than any file if unknown to the writer. */
  readonly size: number;
}

type ReadElement = (position: number) => ElementHeader | undefined;

/**
 * mediabunny reads only complete clusters, and searches forever in a file that ends in garbage. A section therefore ends
 * after its last complete element, and the size of its last cluster is patched: browsers write seconds of audio, or all of
 * it, into one cluster. Throws a `DamagedRecording`.
 */
export function webmSections(file: number, fileBytes: number): FileView[] {
  const starts = [0];
  for (let start = findStart(file, 1, fileBytes); start !== -1; start = findStart(file, start + 1, fileBytes)) {
    starts.push(start);
  }
  return starts.map((start, i) => completeElements(file, start, starts[i + 1] ?? fileBytes));
}

/** Matroska files that are not WebM name their type in the first bytes. */
export function isMatroska(file: number): boolean {
  return findBytes(file, 0, maxTypeBytes, Buffer.from('matroska')) !== -1;
}

const maxTypeBytes = 64;

/** An EBML header is followed by a segment. The section before it may have been cut anywhere. */
function findStart(file: number, from: number, fileBytes: number): number {
  const elementAt: ReadElement = (position) => readHeader(readAt(file, position, maxHeaderBytes), position);
  for (let at = from; ; at++) {
    at = findBytes(file, at, fileBytes, bytesOf(ebml));
    const header = at === -1 ? undefined : elementAt(at);
    if (header === undefined || elementAt(header.start + header.size)?.id === segment) return at;
  }
}

function completeElements(file: number, start: number, sectionEnd: number): FileView {
  const read = createReader(file);
  const elementAt: ReadElement = (position) => readHeader(read(position, maxHeaderBytes), position);
  let lastCluster: ElementHeader | undefined;
  let position = start;
  for (;;) {
    const element = elementAt(position);
    if (element === undefined || !known.has(element.id) || element.start > sectionEnd) break;
    if (element.id === cluster) lastCluster = element;
    const enter = element.id === segment || element.id === cluster;
    const end = enter ? element.start : element.start + element.size;
    if (end > sectionEnd) break;
    position = end;
  }
  const clusterEnd = lastCluster === undefined ? start : lastCluster.start + lastCluster.size;
  // A cut element or garbage may follow, but neither more audio nor the intact end of the cluster.
  const isClusterEnd = clusterEnd < sectionEnd && known.has(elementAt(clusterEnd)?.id ?? 0);
  const isDamaged = position < clusterEnd && (clusterEnd === sectionEnd || isClusterEnd);
  if (isDamaged || hasMoreSound(file, position + 1, sectionEnd, elementAt)) {
    throw damagedBeforeEnd(isMatroska(file) ? 'Matroska' : 'webm');
  }
  return {
    start,
    end: position,
    patch: lastCluster && position < clusterEnd ? shortened(lastCluster, position) : undefined,
  };
}

/**
 * Minimum number of consecutive elements, including the block, that prove a real block: anywhere, or up to the end.
 * Bytes that only look like a block begin a shorter sequence.
 */
const minElements = { anywhere: 4, atEnd: 2 } as const;

function hasMoreSound(file: number, from: number, end: number, elementAt: ReadElement): boolean {
  if (findBytes(file, from, end, bytesOf(cluster)) !== -1) return true;
  return [block, blockGroup].some((id) => {
    let at = findBytes(file, from, end, bytesOf(id));
    while (at !== -1 && !areBlocks(at, end, elementAt)) at = findBytes(file, at + 1, end, bytesOf(id));
    return at !== -1;
  });
}

function areBlocks(position: number, end: number, elementAt: ReadElement): boolean {
  for (let count = 0, at = position; count < minElements.anywhere; count++) {
    if (at === end) return count >= minElements.atEnd;
    const { id, start, size } = elementAt(at) ?? { id: 0, start: 0, size: 0 };
    if (!known.has(id) || start + size > end) return false;
    at = start + size;
  }
  return true;
}

function bytesOf(id: number): Uint8Array {
  return Buffer.from(id.toString(16), 'hex');
}

/** An id has up to four bytes, a size up to eight. */
const maxHeaderBytes = 12;

export function readHeader(source: Uint8Array, position: number): ElementHeader | undefined {
  const idWidth = widthOf(source[0]);
  const sizeWidth = widthOf(source[idWidth]);
  const start = idWidth + sizeWidth;
  if (idWidth > 4 || sizeWidth > 8 || start > source.length) return undefined;
  const size = Uint8Array.from(source.subarray(idWidth, start));
  size[0]! -= 2 ** (8 - sizeWidth); // the marker bit of the width
  return { id: numberFrom(source.subarray(0, idWidth)), start: position + start, sizeWidth, size: numberFrom(size) };
}

/** A variable-length number starts with as many zero bits as it has bytes after the first. */
function widthOf(firstByte = 0): number {
  return Math.clz32(firstByte) - 23;
}

export function numberFrom(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

/** The size field of an element that ends at `end`. */
function shortened({ start, sizeWidth }: ElementHeader, end: number): Patch {
  const field = Buffer.alloc(8);
  field.writeBigUInt64BE(BigInt(end - start) | (1n << BigInt(7 * sizeWidth)));
  return { position: start - sizeWidth, bytes: field.subarray(8 - sizeWidth) };
}

/**
 * mediabunny reads only complete clusters, and searches forever in a file that ends in garbage. A section therefore ends
 * after its last complete element, and the size of its last cluster is patched: browsers write seconds of audio, or all of
 * it, into one cluster.
 */
import { undecodable } from '../failures.ts';
import { findBytes, readAt } from './file-bytes.ts';
import type { FileView, Patch } from './file-view.ts';

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

export function webmSections(file: number, fileBytes: number): FileView[] {
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

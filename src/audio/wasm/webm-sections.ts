/**
 * mediabunny reads only complete clusters, and searches forever in a file that ends in garbage. This view ends a webm file
 * after its last complete element and patches the size of the last cluster: browsers write seconds of audio, or all of
 * it, into one cluster.
 */
import { readAt } from './file-bytes.ts';
import type { FileView, Patch } from './file-view.ts';

const segment = 0x18538067;
const cluster = 0x1f43b675;

/** RFC 9559: element ids of a file, a segment and a cluster, here all on one level. */
const known = new Set([
  ...[0x1a45dfa3, segment, cluster, 0xec, 0xbf], // EBML, ..., Void, CRC-32
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

export function webmView(file: number, fileBytes: number): FileView {
  let lastCluster: ElementHeader | undefined;
  let position = 0;
  for (;;) {
    const element = readHeader(file, position);
    if (element === undefined || !known.has(element.id)) break;
    const end = element.start + element.size;
    const isCutCluster = element.id === cluster && end > fileBytes;
    const enter = element.id === segment || isCutCluster;
    if (!enter && end > fileBytes) break;
    if (element.id === cluster) lastCluster = isCutCluster ? element : undefined;
    position = enter ? element.start : end;
  }
  return { end: position, patch: lastCluster && shortened(lastCluster, position) };
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

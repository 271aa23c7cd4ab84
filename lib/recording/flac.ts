import { findBytes, readAt } from './file-bytes.ts';
import type { FileView } from './file-view.ts';

const marker = Buffer.from('fLaC');

/** The demuxer misses a last frame shorter than 16 bytes (silence) unless something follows it. */
const padding = 16;

/** A section begins with its marker, but the first may begin with an ID3 tag. */
export function flacSections(file: number, fileBytes: number): FileView[] {
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

/** The marker is followed by the header of a STREAMINFO block: type 0, length 34. */
function findStream(file: number, from: number, fileBytes: number): number {
  for (let at = from; ; at++) {
    at = findBytes(file, at, fileBytes, marker);
    if (at === -1) return -1;
    const [type = 1, ...length] = readAt(file, at + marker.length, 4);
    if ((type & 0x7f) === 0 && Buffer.from(length).readUIntBE(0, 3) === 34) return at;
  }
}

/**
 * The position after the metadata blocks, which may contain anything. The first bit of a header marks the last block.
 */
function skipMetadata(file: number, streamAt: number): number {
  for (let at = streamAt + marker.length; ;) {
    const header = Buffer.from(readAt(file, at, 4));
    if (header.length < 4) return at;
    at += 4 + header.readUIntBE(1, 3);
    if (header[0]! >= 0x80) return at;
  }
}

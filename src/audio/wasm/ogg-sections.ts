/** Ogg (RFC 3533): a recording is a sequence of links, each with streams of its own. */
import { undecodable } from '../failures.ts';
import { createReader, findBytes, readAt } from './file-bytes.ts';
import type { FileView } from './file-view.ts';

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

export function oggSections(file: number, fileBytes: number): FileView[] {
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
export function* oggPages(file: number, fileBytes: number, start = 0): Generator<OggPage> {
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

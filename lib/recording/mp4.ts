/** ISO base media files (ISO/IEC 14496-12) and QuickTime: a sequence of boxes. */
import { damagedBeforeEnd } from './damage.ts';
import { findBytes, readAt } from './file-bytes.ts';
import type { FileView, Patch } from './file-view.ts';

/** A section begins with its file type box. Throws a `DamagedRecording`. */
export function mp4Sections(file: number, fileBytes: number): FileView[] {
  const starts = [0];
  let hasMovie = false;
  for (const { type, position } of boxes(file, fileBytes)) {
    if (type === 'ftyp' && hasMovie) {
      starts.push(position);
      hasMovie = false;
    }
    hasMovie ||= type === 'moov';
  }
  return starts.map((start, i) => ({ start, end: starts[i + 1] ?? fileBytes, patch: typeOf(file, start) }));
}

/** The demuxer requires a file type box first, but checks only its name. */
function typeOf(file: number, start: number): Patch | undefined {
  const first = Buffer.from(readAt(file, start + 4, 4)).toString('latin1');
  return paddings.has(first) ? { position: start + 4, bytes: Buffer.from('ftyp') } : undefined;
}

const paddings = new Set(['wide', 'free', 'skip', 'pnot']);

/** An hour in fragments of half a second has 14,400 boxes. Reading this maximum takes 70 ms. */
const maxBoxes = 20_000;

/** ISO/IEC 14496-12, 4.2: a length of 1 means that a 64-bit length follows, 0 means to the end of the file. */
function* boxes(file: number, fileBytes: number): Generator<{ readonly type: string; readonly position: number }> {
  for (let position = 0, count = 0; position + 8 <= fileBytes && count < maxBoxes; count++) {
    const header = Buffer.from(readAt(file, position, 16));
    const short = header.readUInt32BE(0);
    const length = short === 1 && header.length === 16 ? Number(header.readBigUInt64BE(8)) : short;
    const type = header.toString('latin1', 4, 8);
    const isBox = /^[\x20-\x7e\xa9]{4}$/.test(type) && (length >= 8 || length === 0);
    if (!isBox || (position + length > fileBytes && !known.has(type)))
      return expectNoFragment(file, position, fileBytes);
    yield { type, position };
    if (length === 0) return;
    position += length;
  }
}

/** A box of these types may be cut at the end of the file. */
const known = new Set(['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'mfra', 'free', 'skip', 'uuid', 'udta', 'meta']);

const fragment = Buffer.from('moof');

/** The end of a file may contain anything except more audio. */
function expectNoFragment(file: number, from: number, fileBytes: number): void {
  if (findBytes(file, from, fileBytes, fragment) !== -1) throw damagedBeforeEnd('mp4');
}

import { readAt } from './file-bytes.ts';
import type { FileView } from './file-view.ts';

/** A section begins with its file type box; what precedes the first one, the demuxer does not know. */
export function mp4Sections(file: number, fileBytes: number): FileView[] {
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

/** An hour in fragments of half a second has 14,400; as many of these take 70 ms. */
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

import { isWav } from '../wav.ts';
import { createReader } from './file-bytes.ts';
import type { FileView } from './file-view.ts';

/** Far more than any recording has. */
const maxChunks = 10_000;

/** A section is a RIFF file: its chunks follow each other, each with its length. */
export function wavSections(file: number, fileBytes: number): FileView[] {
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

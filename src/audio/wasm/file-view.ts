/** A file as the demuxer is to see it: it gives up on some files that end badly. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CustomSource, type Source } from 'mediabunny';

export interface FileView {
  /** The length that the file is given in bytes; beyond its true end there are zeros. */
  readonly end: number;
  readonly patch?: Patch | undefined;
}

/** Bytes that replace those of the file. */
export interface Patch {
  readonly position: number;
  readonly bytes: Uint8Array;
}

export function viewedSource(path: string, viewOf: (file: number, fileBytes: number) => FileView): Source {
  const file = openSync(path, 'r');
  const { end, patch } = viewOf(file, fstatSync(file).size);
  return new CustomSource({
    getSize: () => end,
    read: (from, to) => {
      const bytes = new Uint8Array(to - from);
      readSync(file, bytes, 0, bytes.length, from);
      patch?.bytes.forEach((byte, i) => (bytes[patch.position + i - from] = byte)); // ignored where it lies outside
      return bytes;
    },
    dispose: () => closeSync(file),
    prefetchProfile: 'fileSystem',
  });
}

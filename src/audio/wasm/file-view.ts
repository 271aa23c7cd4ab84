/** A patched view of a file for the demuxer, which fails on some truncated files. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CustomSource, type Source } from 'mediabunny';

export interface FileView {
  /** Length of the view in bytes; zeros past the end of the file. */
  readonly end: number;
  readonly patch?: Patch | undefined;
}

/** Bytes that replace bytes of the file. */
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
      patch?.bytes.forEach((byte, i) => (bytes[patch.position + i - from] = byte)); // no effect outside of the array
      return bytes;
    },
    dispose: () => closeSync(file),
    prefetchProfile: 'fileSystem',
  });
}

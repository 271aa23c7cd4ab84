/** A part of a file, patched for the demuxer, which fails on some truncated files. */
import { closeSync, openSync, readSync } from 'node:fs';
import { CustomSource, type Source } from 'mediabunny';

export interface FileView {
  /** Positions in the file. */
  readonly start: number;
  readonly end: number;
  /** Number of zero bytes that follow the end. Default: 0. */
  readonly padding?: number;
  readonly patch?: Patch | undefined;
  /** Position of the first frame, for a demuxer that ends at damage without an error. */
  readonly framesAt?: number;
}

/** Bytes that replace bytes of the file. */
export interface Patch {
  readonly position: number;
  readonly bytes: Uint8Array;
}

export function viewedSource(path: string, { start, end, padding = 0, patch }: FileView): Source {
  const file = openSync(path, 'r');
  return new CustomSource({
    getSize: () => end - start + padding,
    read: (from, to) => {
      const bytes = new Uint8Array(to - from);
      const length = Math.min(to, end - start) - from;
      if (length > 0) readSync(file, bytes, 0, length, start + from);
      const patchAt = patch && patch.position - start - from;
      patch?.bytes.forEach((byte, i) => (bytes[patchAt! + i] = byte)); // no effect outside of the array
      return bytes;
    },
    dispose: () => closeSync(file),
    prefetchProfile: 'fileSystem',
  });
}

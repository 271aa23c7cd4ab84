/** Converts a recording to the file part of a form. */
import type { FilePart } from './form.ts';

/** A File or Blob, bytes, or (in Node.js) the path of a file, which is streamed. */
export type RecordingSource = Blob | Uint8Array | string;

/** Name and media type are only informative, because the service detects the container from the first bytes. */
export async function toFilePart(source: RecordingSource, fileName?: string): Promise<FilePart> {
  if (typeof source === 'string') return { blob: await openFile(source), name: fileName ?? baseName(source) };
  if (!isRecording(source)) {
    throw new TypeError('A recording must be a File, a Blob, bytes, or in Node.js the path of a file.');
  }
  const name = fileName ?? ('name' in source ? String(source.name) : 'recording');
  return { blob: source instanceof Blob ? source : new Blob([source]), name };
}

/** Whether the source is a Blob or bytes. `new Blob` would convert anything else, such as a FileList, to a string. */
function isRecording(source: unknown): source is Blob | Uint8Array<ArrayBuffer> {
  return source instanceof Blob || ArrayBuffer.isView(source) || source instanceof ArrayBuffer;
}

/** The part of `process` that is used, so that web pages do not need the types of Node.js. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:fs'): { openAsBlob(path: string): Promise<Blob> };
}

/** `node:fs` is not imported, because bundlers for web pages would fail on it. */
async function openFile(path: string): Promise<Blob> {
  const { process } = globalThis as { process?: NodeProcess };
  const fs = process?.getBuiltinModule?.('node:fs');
  if (!fs) throw new TypeError('Paths are supported in Node.js only; pass a File, a Blob or bytes.');
  try {
    return await fs.openAsBlob(path);
  } catch (cause) {
    // The message of Node.js, "Unable to open file as blob", does not name the file.
    throw new TypeError(`Cannot open the recording ${path}; check that the file exists.`, { cause });
  }
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

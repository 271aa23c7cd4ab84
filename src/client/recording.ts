/** What callers have of a recording, as what a form sends. */
import type { FilePart } from './form.ts';

/** A File or Blob, its bytes, or (in Node.js) the path of a file, which is read while it is sent. */
export type RecordingSource = Blob | Uint8Array | string;

/** The service tells the container by the first bytes: name and media type are for the log of a proxy, if anything. */
export async function toFilePart(source: RecordingSource, fileName?: string): Promise<FilePart> {
  if (typeof source === 'string') return { blob: await openFile(source), name: fileName ?? baseName(source) };
  if (!isRecording(source)) {
    throw new TypeError('A recording is a File, a Blob, its bytes, or in Node.js the path of a file.');
  }
  const name = fileName ?? ('name' in source ? String(source.name) : 'recording');
  return { blob: source instanceof Blob ? source : new Blob([source]), name };
}

/** `new Blob` would take anything for a text: a FileList, an event. */
function isRecording(source: unknown): boolean {
  return source instanceof Blob || ArrayBuffer.isView(source) || source instanceof ArrayBuffer;
}

/** Neither imported nor required, so that a bundle for pages knows nothing of it. */
async function openFile(path: string): Promise<Blob> {
  const { process } = globalThis as { process?: Partial<typeof globalThis.process> };
  const fs = process?.getBuiltinModule?.('node:fs');
  if (!fs) throw new TypeError('Only Node.js can open a path; hand over a File, a Blob or the bytes.');
  try {
    return await fs.openAsBlob(path);
  } catch (cause) {
    // Node.js says "Unable to open file as blob", without a name.
    throw new TypeError(`The recording ${path} cannot be opened: is there such a file?`, { cause });
  }
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

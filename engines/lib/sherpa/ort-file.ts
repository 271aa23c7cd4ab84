/** Checks a model in ONNX Runtime's own format, a FlatBuffer, without loading it. */
import { Unusable } from '../model-files.ts';

/** Number of bytes from the start of a file that these functions look at. */
export const ortHeadBytes = 65_536;

/**
 * Throws `Unusable` for a truncated file, and for a file in another format. ONNX Runtime writes a file backwards and
 * begins with the format version, the first field of the root table, so this text is at the end of the file.
 */
export function checkOrt(head: Buffer, bytes: number): void {
  // The file identifier follows the offset of the root table.
  if (head.toString('latin1', 4, 8) !== 'ORTM') throw new Unusable('it is not in the format of ONNX Runtime');
  const end = endOfVersion(head);
  if (end > bytes) throw new Unusable(`it is cut: ${bytes} bytes of at least ${end}`);
}

function endOfVersion(head: Buffer): number {
  try {
    const root = head.readUInt32LE(0);
    const table = root - head.readInt32LE(root);
    const field = root + head.readUInt16LE(table + 4);
    return field + head.readUInt32LE(field) + 4;
  } catch {
    throw new Unusable('it is not in the format of ONNX Runtime');
  }
}

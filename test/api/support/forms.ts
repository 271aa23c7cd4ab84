/** Multipart bodies: as clients write them, and as none should. */

export interface FormField {
  readonly name: string;
  readonly value: string | Uint8Array;
  /** Makes it a file. */
  readonly filename?: string;
  /** Of a file; what browsers record when absent. */
  readonly type?: string;
}

export const boundary = 'the-boundary';
export const multipartType = { 'content-type': `multipart/form-data; boundary=${boundary}` };

/** The smallest thing that is told to be a recording. */
export const wavHead = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1');

export const recording: FormField = { name: 'file', value: wavHead, filename: 'memo.wav' };

/** As a browser writes a form. */
export function multipart(...fields: readonly FormField[]): Buffer {
  return Buffer.concat([...fields.map(part), Buffer.from(`--${boundary}--\r\n`)]);
}

/** One part of a form, with what stands before it. */
export function part({ name, value, filename, type = 'audio/webm' }: FormField): Buffer {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: ${type}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value as Uint8Array), Buffer.from('\r\n')]);
}

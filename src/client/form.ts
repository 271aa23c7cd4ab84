/**
 * A multipart form as one Blob, encoded as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm").
 *
 * FormData is not used, because Node.js 24 reads it into memory as a whole, and an abort during that read causes an
 * uncaught exception ("ReadableStream is already closed"). The parts of a Blob are streamed.
 */
export interface Form {
  readonly body: Blob;
  readonly contentType: string;
}

export interface FilePart {
  readonly blob: Blob;
  readonly name: string;
}

export function encodeForm(fields: Readonly<Record<string, string | number | undefined>>, file: FilePart): Form {
  const boundary = `parlance-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const head = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const parts: (string | Blob)[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) parts.push(`${head(`name="${name}"`)}\r\n${value}\r\n`);
  }
  const type = file.blob.type || 'application/octet-stream';
  parts.push(`${head(`name="file"; filename="${escaped(file.name)}"`)}Content-Type: ${type}\r\n\r\n`, file.blob);
  parts.push(`\r\n--${boundary}--\r\n`);
  return { body: new Blob(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

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

type Value = string | number | FilePart;

/** A list is sent as a field that is repeated. */
export function encodeForm(fields: Readonly<Record<string, Value | readonly Value[] | undefined>>): Form {
  const boundary = `parlance-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const head = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const parts: (string | Blob)[] = [];
  for (const [name, value = []] of Object.entries(fields)) {
    for (const one of [value].flat()) {
      if (typeof one !== 'object') parts.push(`${head(`name="${name}"`)}\r\n${one}\r\n`);
      else parts.push(`${head(`name="${name}"; filename="${escaped(one.name)}"`)}${typeOf(one)}`, one.blob, '\r\n');
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return { body: new Blob(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

const typeOf = ({ blob }: FilePart): string => `Content-Type: ${blob.type || 'application/octet-stream'}\r\n\r\n`;

function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Answers out of the bytes of a connection, or out of what `curl --include` prints. */
import { toHeaders, type Unchecked } from '../../support/http.ts';

/** Passes over any 1xx. */
const finalHead = /HTTP\/1\.1 ([2-5]\d\d) [^\r]*\r\n([^]*?)\r\n\r\n/;

export interface RawAnswer extends Unchecked {
  /** What follows it. */
  readonly rest: string;
}

/** The first answer in the text (read as UTF-8, sent with a Content-Length); undefined until all of it is there. */
export function parseAnswer(text: string): RawAnswer | undefined {
  const head = finalHead.exec(text);
  if (!head) return undefined;
  const [whole, status, lines = ''] = head;
  const headers = toHeaders(lines.split('\r\n').flatMap((line) => line.split(/: ?(.*)/, 2)));
  const following = Buffer.from(text.slice(head.index + whole.length));
  const length = Number(headers.get('content-length') ?? 0);
  if (following.length < length) return undefined;
  const body = following.toString('utf8', 0, length);
  return { status: Number(status), headers, text: body, rest: following.toString('utf8', length) };
}

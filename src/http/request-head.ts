/** Validates the head of a request before anything else reads it. Node performs none of these checks. */
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../contract/problems.ts';

export interface RequestTarget {
  /** The path. Starts with a slash; percent-encoding is kept as sent. */
  readonly path: string;
  /** The query string without the question mark. */
  readonly query: string;
  /** Host of an absolute-form target, otherwise of the Host header (RFC 9112, section 3.2.2). */
  readonly host: string;
}

/** Throws `malformed-request` or `expectation-failed`. */
export function readRequestHead({ url = '', headers, httpVersion }: IncomingMessage): RequestTarget {
  if (httpVersion === '1.1') {
    if (headers.host === undefined) throw malformed('HTTP/1.1 requests must have a Host header.');
    if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
      throw new ProblemError('expectation-failed', 'Only 100-continue is supported.');
    }
  }
  // Origin-form (`/path?query`) or absolute-form (`http://host/path?query`). The path is kept as sent: `URL` would
  // resolve dot segments.
  const [, host, path = '', query = ''] = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)?(?:\?([^#]*))?/i.exec(url) ?? [];
  const isValid = host === undefined ? path !== '' : URL.canParse(`http://${host}/`);
  if (!isValid) throw malformed('The request target has no path.');
  return { path: path || '/', query, host: host ?? headers.host ?? '' };
}

function malformed(detail: string): ProblemError {
  return new ProblemError('malformed-request', detail);
}

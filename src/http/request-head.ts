/** The head of a request, checked once, before anything else looks at it: Node checks none of this for us. */
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../contract/problems.ts';

export interface RequestTarget {
  /** Begins with a slash; percent-encoded as it was sent. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** The host that the caller asks for: the target's own, else the Host header's (RFC 9112, 3.2.2). */
  readonly host: string;
}

/** Throws `malformed-request` or `expectation-failed` for what HTTP/1.1 does not allow. */
export function readRequestHead({ url = '', headers, httpVersion }: IncomingMessage): RequestTarget {
  if (httpVersion === '1.1') {
    if (headers.host === undefined) throw malformed('An HTTP/1.1 request needs a Host header.');
    if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
      throw new ProblemError('expectation-failed', 'The only expectation that can be met is 100-continue.');
    }
  }
  const target = parseTarget(url);
  if (target === undefined) throw malformed('The request target has no path.');
  return { ...target, host: target.host ?? headers.host ?? '' };
}

interface ParsedTarget extends Omit<RequestTarget, 'host'> {
  readonly host: string | undefined;
}

/**
 * Origin-form (`/path?query`) and absolute-form (`http://host/path?query`); undefined for everything else. The path
 * stays as it was sent: `URL` would resolve its dots.
 */
function parseTarget(target: string): ParsedTarget | undefined {
  const [, host, path = '', query = ''] = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)?(?:\?([^#]*))?/i.exec(target) ?? [];
  if (host === undefined) return path === '' ? undefined : { path, query, host };
  return URL.canParse(`http://${host}/`) ? { path: path || '/', query, host } : undefined;
}

function malformed(detail: string): ProblemError {
  return new ProblemError('malformed-request', detail);
}

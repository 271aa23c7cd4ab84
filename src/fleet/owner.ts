/** Requests to the front that has a clip or a transcription job: its owner. */
import type { Readable } from 'node:stream';
import { linkedSignal, type LinkedSignal } from '../../lib/abort.ts';
import type { HttpClient } from '../../lib/http-client.ts';
import { ignore } from '../../lib/ignore.ts';
import { ProblemError } from '../contract/problems.ts';
import type { SignedRequest } from './signature.ts';

export interface OtherFronts {
  /** Tag of this front. */
  readonly tag: string;
  /** FLEET_ADDRESS of the front with the tag; undefined when there is none. Rejects while Redis cannot be asked. */
  readonly addressOf: (tag: string) => Promise<string | undefined>;
  readonly http: Pick<HttpClient, 'request'>;
  readonly sign: (request: SignedRequest) => string;
}

export type Owned = 'clip' | 'transcription';

/** The tag of the front that has a thing with this id; undefined when it is this one, or the id has no tag. */
export function otherTagOf(id: string, { tag: own }: Pick<OtherFronts, 'tag'>): string | undefined {
  const [, tag] = /^([\da-f]{8})\.[\w-]{22}$/.exec(id) ?? [];
  return tag === own ? undefined : tag;
}

/** A deletion is finished when its caller has disconnected, too. */
export const neverAborted = new AbortController().signal;

export interface OwnerRequest extends SignedRequest {
  readonly method: 'GET' | 'DELETE';
  readonly what: Owned;
}

/** Ends with its dispose, whatever of it has not been read. */
export interface Answer extends Disposable {
  readonly body: Readable;
  readonly link: LinkedSignal;
}

/**
 * Undefined when the owner has no such thing. Throws `overloaded` when it does not answer within so many milliseconds, or
 * the signal's reason.
 */
export async function ask(
  request: OwnerRequest,
  ms: number,
  signal: AbortSignal,
  { http, sign }: Pick<OtherFronts, 'http' | 'sign'>,
): Promise<Answer | undefined> {
  signal.throwIfAborted();
  const link = linkedSignal(signal);
  const { method, url } = request;
  const headers = { authorization: sign(request) };
  try {
    const sent = http.request(url, { method, headers, signal: link.signal });
    const { statusCode, body } = await link.within(ms, late, sent);
    body.on('error', ignore); // its reader gets it
    const end = () => (body.readableEnded ? link[Symbol.dispose]() : link.end(notNeeded));
    const answer = { body, link, [Symbol.dispose]: end };
    if (statusCode === 200) return answer;
    await textOf(answer, ms, longestRefusal); // then the connection can be used again
    if (statusCode !== 204 && statusCode !== 404) throw new Error(`the owner answered ${statusCode}`);
    end();
    return statusCode === 204 ? answer : undefined;
  } catch (error) {
    link.end(error);
    signal.throwIfAborted();
    throw unreachable(request.what, error);
  }
}

const notNeeded = new Error('the rest is not needed');
const longestRefusal = 1_000;

/** Throws when the answer has more than `longest` characters. */
export async function textOf({ body, link }: Answer, ms: number, longest: number): Promise<string> {
  const read = async () => {
    let text = '';
    for await (const piece of body.setEncoding('utf8')) {
      text += piece as string;
      if (text.length > longest) throw new Error('the answer of the owner is too long');
    }
    return text;
  };
  return link.within(ms, late, read());
}

/** Not 404: it may be there. */
export function unreachable(what: Owned, cause: unknown): ProblemError {
  const detail = `The front that has this ${what} cannot be reached; try again later.`;
  return new ProblemError('overloaded', detail, { cause, headers: { 'Retry-After': '5' } });
}

export function late(): Error {
  return new Error('the owner does not answer');
}

/** Requests to the owner of a clip or transcription job: the front that has it on its disk. */
import type { Readable } from 'node:stream';
import { linkedSignal, type LinkedSignal } from '../../lib/abort.ts';
import type { HttpClient } from '../../lib/http-client.ts';
import { ignore } from '../../lib/errors.ts';
import { ProblemError } from '../contract/problems.ts';
import type { SignedRequest } from './signature.ts';

export interface OtherFronts {
  /** Tag of this front. */
  readonly tag: string;
  /**
   * Resolves with the FLEET_ADDRESS of the front with the tag; undefined if there is none. Rejects if Redis is
   * unavailable.
   */
  readonly addressOf: (tag: string) => Promise<string | undefined>;
  readonly http: Pick<HttpClient, 'request'>;
  readonly sign: (request: SignedRequest) => string;
}

export type OwnedKind = 'clip' | 'transcription';

/** The tag of the front that has a thing with this id; undefined when it is this one, or the id has no tag. */
export function otherTagOf(id: string, { tag: own }: Pick<OtherFronts, 'tag'>): string | undefined {
  const [, tag] = /^([\da-f]{8})\.[\w-]{22}$/.exec(id) ?? [];
  return tag === own ? undefined : tag;
}

/** A deletion is finished when its caller has disconnected, too. */
export const neverAborted: AbortSignal = new AbortController().signal;

export interface OwnerRequest extends SignedRequest {
  readonly method: 'GET' | 'DELETE';
  readonly what: OwnedKind;
}

/** A response of the owner. Disposing of it discards the unread rest. */
export interface OwnerResponse extends Disposable {
  readonly body: Readable;
  readonly link: LinkedSignal;
}

/**
 * Undefined if the owner answers 404. Throws `overloaded` if the owner does not answer within `ms` milliseconds, or the
 * signal's reason.
 */
export async function requestOwner(
  request: OwnerRequest,
  ms: number,
  signal: AbortSignal,
  { http, sign }: Pick<OtherFronts, 'http' | 'sign'>,
): Promise<OwnerResponse | undefined> {
  signal.throwIfAborted();
  const link = linkedSignal(signal);
  const { method, url } = request;
  const headers = { authorization: sign(request) };
  try {
    const sent = http.request(url, { method, headers, signal: link.signal });
    const { statusCode, body } = await link.within(ms, ownerTimeout, sent);
    body.on('error', ignore); // its reader receives the error
    const end = () => (body.readableEnded ? link[Symbol.dispose]() : link.end(notNeeded));
    const answer = { body, link, [Symbol.dispose]: end };
    if (statusCode === 200) return answer;
    await textOf(answer, ms, maxRefusalLength); // a body read to its end lets the connection be reused
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
const maxRefusalLength = 1_000;

/** Reads the body as text. Throws if it has more than `maxLength` characters. */
export async function textOf({ body, link }: OwnerResponse, ms: number, maxLength: number): Promise<string> {
  const read = async () => {
    let text = '';
    for await (const piece of body.setEncoding('utf8')) {
      text += piece as string;
      if (text.length > maxLength) throw new Error('the answer of the owner is too long');
    }
    return text;
  };
  return link.within(ms, ownerTimeout, read());
}

/** The error when the owner does not answer. Not a 404, because the clip or job may exist. */
export function unreachable(what: OwnedKind, cause: unknown): ProblemError {
  const detail = `The front that has this ${what} cannot be reached; try again later.`;
  return new ProblemError('overloaded', detail, { cause, headers: { 'Retry-After': '5' } });
}

/** A rejection handler that throws `unreachable`. */
export const rejectUnreachable =
  (what: OwnedKind) =>
  (cause: unknown): never => {
    throw unreachable(what, cause);
  };

export function ownerTimeout(): Error {
  return new Error('the owner does not answer');
}

/**
 * Forwards a request to the owner: the front that has the clip or transcription. An id begins with the tag that the
 * owner had when it created the clip or transcription. The owner never forwards, so that two fronts cannot forward in a
 * circle.
 */
import { Readable } from 'node:stream';
import { ignore } from '../../lib/errors.ts';
import type { HttpClient, HttpResponse } from '../../lib/http-client.ts';
import { parseObject } from '../../lib/json.ts';
import { keyHeader, requestIdHeader, type Forward, type ForwardedRequest } from '../contract/forwarding.ts';
import { noBody, type AnyAnswer, type Owned, type ProblemCode } from '../contract/operations.ts';
import { problems } from '../contract/problem-table.ts';
import { ProblemError } from '../contract/problems.ts';
import { currentKey, currentScope } from '../request-scope.ts';
import { traceHeaders } from '../trace.ts';
import type { SignedRequest } from './signature.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface ForwardOptions {
  /** Whether this front owns the clips and jobs with this tag, which may come from an earlier process. */
  readonly isOwn: (tag: string) => boolean;
  /**
   * Resolves with the FLEET_ADDRESS of the front with this tag, or with undefined if no front has it. Rejects if Redis
   * is unavailable.
   */
  readonly addressOf: (tag: string) => Promise<string | undefined>;
  readonly http: Pick<HttpClient, 'request'>;
  readonly sign: (request: SignedRequest) => string;
  readonly timeouts: Pick<FleetTimeouts, 'silenceMs' | 'clipMs'>;
}

export function createForward({ isOwn, addressOf, http, sign, timeouts }: ForwardOptions): Forward {
  return async (request) => {
    const { owned, id, method, target, headers, signal } = request;
    const tag = /^([\da-f]{8})\.[\w-]{22}$/.exec(id)?.[1];
    if (tag === undefined || isOwn(tag)) return undefined;
    const rejected = (cause: unknown): never => {
      throw unreachable(owned, cause);
    };
    const address = await addressOf(tag).catch(rejected);
    if (address === undefined) {
      // Clips are lost when their front ends, so this front answers 404. A restarted front still has its
      // transcriptions.
      return owned === 'clip' ? undefined : rejected(new Error('no front has the tag'));
    }
    const { origin, pathname, search } = new URL(`${address}${target}`);
    const url = `${origin}${pathname}${search}`; // exactly as sent, because the owner verifies its signature
    const key = currentKey()?.name;
    const response = await http
      .request(url, {
        ...{ method: method as 'GET' | 'DELETE', ...timeoutsFor(request, timeouts) },
        signal: method === 'DELETE' ? neverAborted : signal,
        headers: {
          ...textsOf(headers),
          ...traceHeaders(url),
          [requestIdHeader]: currentScope()?.id ?? '',
          ...(key !== undefined && { [keyHeader]: key }),
          authorization: sign({ method, url, key }),
        },
      })
      .catch(rejected);
    response.body.on('error', ignore); // the reader of the body receives the error
    return answerOf(response, request).catch((error: unknown) => {
      response.body.destroy();
      throw error instanceof ProblemError ? error : unreachable(owned, error);
    });
  };
}

/** A deletion completes even if its caller disconnects. */
const neverAborted = new AbortController().signal;

/** A request with one of these headers may wait for the end of a synthesis or transcription. */
const mayWait = ['Range', 'Prefer'];

/** A clip may pause while it is synthesized. Everything else is complete, or an event stream with heartbeats. */
function timeoutsFor({ owned, headers }: ForwardedRequest, { silenceMs, clipMs }: ForwardOptions['timeouts']) {
  const waits = mayWait.some((name) => headers[name] !== undefined);
  return { headersTimeout: waits ? clipMs : silenceMs, bodyTimeout: owned === 'clip' ? clipMs : silenceMs };
}

/** Copies only what the contract declares, because another process may now have the address. */
async function answerOf(
  { statusCode: status, headers, body }: HttpResponse,
  { owned, responses }: ForwardedRequest,
): Promise<AnyAnswer> {
  const mediaType = String(headers['content-type'] ?? noBody).split(';')[0] ?? noBody;
  const { headers: declared = {}, content = { [noBody]: {} } } = responses[String(status)] ?? { content: {} };
  if (!Object.hasOwn(content, mediaType)) {
    throw new Error(`the owner answered ${status} ${mediaType}`);
  }
  const values = Object.keys(declared).map((name) => [name, headers[name.toLowerCase()]] as const);
  const taken = textsOf(Object.fromEntries(values.filter(([name]) => name !== 'X-Request-Id')));
  if (mediaType === problemType) throw problemOf(status, await shortText(body), taken);
  if (mediaType === noBody) {
    await shortText(body);
    return { status, mediaType, headers: taken, body: undefined };
  }
  const pieces = mediaType === 'text/event-stream' ? untilLost(body) : untilBroken(body, owned);
  const sent = Readable.from(pieces, { objectMode: false }).on('close', () => body.destroy()); // unread if the method is HEAD
  return { status, mediaType, headers: taken, body: sent, isForwarded: true };
}

const problemType = 'application/problem+json';

/** Ends without a last event if the owner is lost. Readers then resume the stream. */
async function* untilLost(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch {
    // The owner has stopped or is cut off, or the caller has disconnected.
  }
}

/** A clip that breaks off has been removed, has failed, or is lost with its front. */
async function* untilBroken(body: Readable, owned: Owned): AsyncGenerator<Uint8Array> {
  let hasBegun = false;
  try {
    for await (const piece of body) {
      hasBegun = true;
      yield piece as Uint8Array;
    }
  } catch (cause) {
    if (owned === 'transcription' || !hasBegun) throw unreachable(owned, cause);
    throw new ProblemError('clip-not-found', 'The front that has the clip has ended its answer early.', { cause });
  }
}

const maxShortLength = 10_000;

/** Reads to the end, so that the connection can be used again. */
async function shortText(body: Readable): Promise<string> {
  let text = '';
  for await (const piece of body.setEncoding('utf8')) {
    text += piece as string;
    if (text.length > maxShortLength) throw new Error('the answer of the owner is too long');
  }
  return text;
}

/** Returns the owner's problem, so that it is logged, counted and answered like a problem of this front. */
function problemOf(status: number, text: string, headers: Readonly<Record<string, string>>): Error {
  const { code, detail } = parseObject(text) ?? {};
  const isKnown = typeof code === 'string' && Object.hasOwn(problems, code) && typeof detail === 'string';
  if (!isKnown || problems[code as ProblemCode].status !== status)
    return new Error('the owner sent an unknown problem');
  return new ProblemError(code as ProblemCode, detail, { headers });
}

/** Not a 404, because the clip or transcription may exist. */
function unreachable(owned: Owned, cause: unknown): ProblemError {
  const detail = `The front that has this ${owned} cannot be reached; try again later.`;
  return new ProblemError('overloaded', detail, { cause, headers: { 'Retry-After': '5' } });
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

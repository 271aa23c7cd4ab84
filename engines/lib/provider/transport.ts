/** HTTP requests to a provider, with network failures mapped to problem codes. */
import { Readable } from 'node:stream';
import { EngineError, type EngineContext } from '../../contract/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import { createHttpClient } from '../../../lib/http-client.ts';
import { badResponse, schemeError } from './failures.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HttpBody;
}

/** A buffer, or a stream of known length. */
export type HttpBody = Uint8Array | { readonly bytes: number; readonly chunks: AsyncIterable<Uint8Array> };

export interface HttpAnswer {
  readonly status: number;
  /** Keys are lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The caller reads it to its end or destroys it. */
  readonly body: Readable;
}

export interface Transport extends AsyncDisposable {
  /** Rejects with an `EngineError`, or with the signal's reason. The signal also aborts the response body. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
}

/** Throws if a proxy variable in `env` is not a valid URL. */
export function createTransport(env: EngineContext['env']): Transport {
  const client = createHttpClient(env);
  return {
    async send({ method, url, headers, body }, signal) {
      signal.throwIfAborted();
      const framed = body === undefined ? headers : { ...headers, 'content-length': String(lengthOf(body)) };
      try {
        const answer = await client.request(url, {
          method,
          headers: framed,
          signal,
          ...(body && { body: 'chunks' in body ? Readable.from(body.chunks, { objectMode: false }) : body }),
        });
        return { status: answer.statusCode, headers: answer.headers, body: answer.body };
      } catch (error) {
        signal.throwIfAborted();
        throw toFailure(error);
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function lengthOf(body: HttpBody): number {
  return 'chunks' in body ? body.bytes : body.byteLength;
}

/** Error codes for a malformed HTTP response, headers that exceed the limit, and lengths that contradict each other. */
const unreadable = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES|ERR_TOO_MANY_INFORMATIONAL$)/;

/** Messages of undici for a 100 or a 101 that was not requested. Their code is that of a broken connection. */
const unexpected = /^bad (response|upgrade)$/;

function isUnreadable(error: unknown): boolean {
  const code = failureCodeOf(error);
  return unreadable.test(code) || (code === 'UND_ERR_SOCKET' && unexpected.test(messageOf(error)));
}

/** Error codes of OpenSSL for an answer that is not TLS. */
const withoutTls = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Maps an error that occurred before the response. An `EngineError` from the request body passes through. */
function toFailure(error: unknown): EngineError {
  if (EngineError.is(error)) return error;
  const code = failureCodeOf(error);
  if (code.startsWith('UND_ERR_REQ_')) {
    return new EngineError('engine-failed', 'The request could not be sent to the provider.', { cause: error });
  }
  if (isUnreadable(error)) {
    return new EngineError('provider-bad-response', 'The provider sent an invalid HTTP response.', { cause: error });
  }
  if (withoutTls.has(code)) return schemeError('http', error);
  return new EngineError('provider-unreachable', 'The provider is unreachable.', { cause: error });
}

/** Connection failures that are worth a retry. */
const transientCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...['UND_ERR_SOCKET', 'UND_ERR_PRX_CONN'],
]);

/**
 * True for a failure to connect and for a connection that broke before the response headers; false for an unknown host or
 * an invalid certificate, which a retry does not fix.
 */
export function isTransient(error: EngineError): boolean {
  return error.code === 'provider-unreachable' && transientCodes.has(failureCodeOf(error.cause));
}

function failureCodeOf(error: unknown): string {
  // Errors of undici's parser do not always have a code.
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name);
}

/**
 * Reads the whole body as text. Throws the signal's reason, or `provider-bad-response` if the body ends early or
 * exceeds `limit` bytes; the message says which.
 */
export async function readText(answer: HttpAnswer, limit: number, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (cause) {
    signal.throwIfAborted();
    if (EngineError.is(cause)) throw cause;
    throw new EngineError('provider-bad-response', 'The response of the provider ended early.', { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function tooLarge(limit: number): EngineError {
  return badResponse('The response of the provider is too large.', `it exceeds ${limit} bytes`);
}

const errorTextBytes = 65_536;
const errorTextMs = 2_000;

/** Reads the body of an error response, at most 64 KiB within 2 s. Never throws. */
export async function readErrorText({ body }: HttpAnswer): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), errorTextMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= errorTextBytes) break; // leaving the loop destroys the body
    }
  } catch {
    // The part that arrived is enough.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

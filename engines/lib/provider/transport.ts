/** HTTP requests to a provider, with network failures mapped to problem codes. */
import { Readable } from 'node:stream';
import { EngineError, type EngineContext } from '../../contract/index.ts';
import { createHttpClient } from '../../../lib/http-client.ts';
import { connectionError } from './connection-failures.ts';
import { badResponse } from './failures.ts';

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
        throw connectionError(error, url);
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function lengthOf(body: HttpBody): number {
  return 'chunks' in body ? body.bytes : body.byteLength;
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

/** Reads the body of an error response until at least 64 KiB have arrived or 2 s have passed. Never throws. */
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

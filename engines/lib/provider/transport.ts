/** HTTP to a provider: one request, one answer, and what went wrong in between. */
import { Readable } from 'node:stream';
import { EngineError, type EngineContext } from '../../contract/index.ts';
import { createHttpClient } from '../../../lib/http-client.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HttpBody;
}

/** All at once, or in chunks whose sum is known. */
export type HttpBody = Uint8Array | { readonly bytes: number; readonly chunks: AsyncIterable<Uint8Array> };

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read it to its end, or destroy it. */
  readonly body: Readable;
}

export interface Transport extends AsyncDisposable {
  /** Rejects with an `EngineError`, or with the signal's reason. The signal holds for the answer's body too. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
}

/** Throws when `env` names a proxy that is none. */
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

/** An answer that is none: not HTTP, or a head without end. */
const unreadable = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RESPONSE)/;

/** An error that no answer preceded. What the body's own source threw comes through as it is. */
function toFailure(error: unknown): EngineError {
  if (EngineError.is(error)) return error;
  const code = codeOf(error);
  if (code.startsWith('UND_ERR_REQ_')) {
    return new EngineError('engine-failed', 'The request could not be sent to the provider.', { cause: error });
  }
  if (unreadable.test(code)) {
    return new EngineError('provider-bad-response', 'The provider sent an answer that is not HTTP.', { cause: error });
  }
  return new EngineError('provider-unreachable', 'The provider cannot be reached.', { cause: error });
}

/** Failures of a connection that the next one may not have. */
const passing = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...['UND_ERR_SOCKET', 'UND_ERR_PRX_CONN'],
]);

/** True of a failure to connect, or of a connection that broke before the answer's head; a wrong name or certificate stays wrong. */
export function mayPass(error: EngineError): boolean {
  return error.code === 'provider-unreachable' && passing.has(codeOf(error.cause));
}

function codeOf(error: unknown): string {
  // undici's parser gives its errors a code only sometimes.
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name);
}

/**
 * The whole body as text. Throws `provider-bad-response` when it breaks off or is longer than `limit` bytes, or the
 * signal's reason.
 */
export async function readText(answer: HttpAnswer, limit: number, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limit) throw new Error(`the answer has more than ${limit} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw new EngineError('provider-bad-response', 'The answer of the provider broke off.', { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

const errorTextBytes = 65_536;
const errorTextMs = 2_000;

/** What is there of the text of an answer that is a failure anyway; it does not wait for long. */
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
    // What has come says enough.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

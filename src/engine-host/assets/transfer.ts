import { linkedSignal } from '../../../lib/abort.ts';
import { errnoOf, messageOf } from '../../../lib/errors.ts';
import { readRetryAfter } from '../../../lib/retry-after.ts';

/** The error of an interrupted or rejected transfer that can be retried. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
  /** Seconds, if the server sent Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { cause, retryAfter }: { cause?: unknown; retryAfter?: number | undefined } = {}) {
    super(message, { cause });
    this.retryAfter = retryAfter;
  }
}

/** The server cannot resume from the requested offset, so the partial file is useless. */
export class ResumeRejected extends TransferError {}

export interface TransferRequest {
  readonly url: string;
  /** Offset of the first requested byte; 0 requests the whole file. */
  readonly offset: number;
  /** ETag of the version that the bytes before `offset` belong to; if it has changed, the server sends the whole file. */
  readonly etag: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** Idle timeout in milliseconds. */
  readonly idleMs: number;
}

/** A response whose body has not been read yet. Disposing of it closes the connection. */
export interface Transfer extends Disposable {
  /** Offset of the body in the file: the requested one, or 0. */
  readonly start: number;
  /** Length of the whole file in bytes, according to the server; undefined if it sends none. */
  readonly total: number | undefined;
  /** Strong ETags only; weak ones cannot be used to resume. */
  readonly etag: string | undefined;
  /** The body. Throws the signal's reason, or a `TransferError`, for example if it is shorter than announced. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Requests a file or the rest of it. Rejects with a `TransferError`, a non-retryable error or the signal's reason. */
export async function requestTransfer(request: TransferRequest): Promise<Transfer> {
  const connection = linkedSignal(request.signal);
  const idle = setTimeout(() => {
    connection.abort(new TransferError(`idle timeout: no data for ${request.idleMs / 1000} s`));
  }, request.idleMs);
  const close = () => {
    clearTimeout(idle);
    connection.end(new Error('the transfer is over'));
  };
  try {
    const response = await send(request, connection.signal);
    const start = startOf(response, request);
    const length = lengthOf(response);
    const total = length === undefined ? undefined : start + length;
    const chunks = read(response, { length, signal: request.signal, onChunk: () => idle.refresh() });
    return { start, total, etag: strongEtagOf(response), chunks, [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

async function send({ url, offset, etag, fetch, signal: caller }: TransferRequest, signal: AbortSignal) {
  // With compression, Content-Length and offsets would not refer to the file itself.
  const headers = new Headers({ 'accept-encoding': 'identity' });
  if (offset > 0) headers.set('range', `bytes=${offset}-`);
  if (offset > 0 && etag !== undefined) headers.set('if-range', etag);
  let target = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const response = await fetch(target, { headers, signal, redirect: 'manual' }).catch((error: unknown) => {
      throw asBroken(error, caller);
    });
    const location = isRedirect(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel().catch(() => undefined);
    const next = URL.parse(location, target);
    if (next?.protocol !== 'https:' && (next?.protocol !== 'http:' || target.startsWith('https:'))) {
      throw new Error(`${url} cannot be downloaded: it redirects to ${next?.origin ?? 'an invalid address'}`);
    }
    target = next.href;
  }
  throw new Error(`${url} cannot be downloaded: it redirects more than ${maxRedirects} times`);
}

/** Maximum number of redirects, as in fetch. */
const maxRedirects = 20;

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

/** Returns the offset of the body in the file. Throws unless the body contains the requested bytes. */
function startOf(response: Response, { url, offset }: TransferRequest): number {
  const { status } = response;
  const answer = `the server answered ${status} ${response.statusText}`.trimEnd();
  if (status === 200) return 0;
  if (status === 206 && firstByteOf(response) === offset) return offset;
  if (status === 206 || (status === 416 && offset > 0)) {
    throw new ResumeRejected(`${answer} to a range request from byte ${offset}`);
  }
  if (status === 408 || status === 429 || status >= 500) {
    const header = response.headers.get('retry-after') ?? undefined;
    throw new TransferError(answer, { retryAfter: readRetryAfter(header, Date.now()) });
  }
  throw new Error(`${url} cannot be downloaded: ${answer}`);
}

interface Reading {
  readonly length: number | undefined;
  readonly signal: AbortSignal;
  readonly onChunk: () => void;
}

async function* read(response: Response, { length, signal, onChunk }: Reading): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      onChunk();
      bytes += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    throw asBroken(error, signal);
  }
  if (length !== undefined && bytes < length) throw new TransferError(`received ${bytes} of ${length} bytes`);
}

function firstByteOf(response: Response): number | undefined {
  const first = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
  return first === undefined ? undefined : Number(first);
}

function lengthOf(response: Response): number | undefined {
  const length = response.headers.get('content-length');
  return length === null || response.headers.has('content-encoding') ? undefined : Number(length);
}

function strongEtagOf(response: Response): string | undefined {
  const etag = response.headers.get('etag');
  return etag?.startsWith('"') ? etag : undefined;
}

function asBroken(error: unknown, caller: AbortSignal): TransferError {
  caller.throwIfAborted();
  if (error instanceof TransferError) return error;
  return new TransferError(`the connection failed (${reasonOf(error)})`, { cause: error });
}

/** fetch wraps the system error, which has a code but no message if the host has several addresses. */
function reasonOf(error: unknown): string {
  const cause = (error as Error).cause;
  if (!(cause instanceof Error)) return messageOf(error);
  return cause.message || String(errnoOf(cause));
}

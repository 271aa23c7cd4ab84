import { linkedSignal } from '../../lib/abort.ts';

/** A transfer that broke off or was turned away, and that may work when it is tried again. */
export class BrokenTransfer extends Error {
  override readonly name = 'BrokenTransfer';
  /** Milliseconds, where the server asked for a pause. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number | undefined } = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server does not go on from the offset that was asked for: what is there of the file is of no use. */
export class ResumeRefused extends BrokenTransfer {}

export interface TransferRequest {
  readonly url: string;
  /** The first byte wanted; 0 asks for the whole file. */
  readonly offset: number;
  /** Of the version that the bytes before `offset` come from; the server then starts over when it has another one. */
  readonly etag: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the transfer counts as broken. */
  readonly idleMs: number;
}

/** An answer whose body is still to be read. Disposing of it closes the connection. */
export interface Transfer extends Disposable {
  /** Where the body begins in the file: the offset asked for, or 0. */
  readonly start: number;
  /** Length of the whole file in bytes, as the server claims it. */
  readonly total: number | undefined;
  /** A strong validator; weak ones are of no use for resuming. */
  readonly etag: string | undefined;
  /** The body. Throws a `BrokenTransfer`, also when less came than was claimed, or the signal's reason. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Asks for a file, or for the rest of it. Rejects with a `BrokenTransfer`, a final error or the signal's reason. */
export async function requestTransfer(request: TransferRequest): Promise<Transfer> {
  const connection = linkedSignal(request.signal);
  const idle = setTimeout(() => {
    connection.abort(new BrokenTransfer(`no byte came for ${request.idleMs / 1000} s`));
  }, request.idleMs);
  const close = () => {
    clearTimeout(idle);
    connection[Symbol.dispose]();
    connection.abort(new Error('the transfer is over'));
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
  // A compressed body has neither the length nor the offsets of the file.
  const headers = new Headers({ 'accept-encoding': 'identity' });
  if (offset > 0) headers.set('range', `bytes=${offset}-`);
  if (offset > 0 && etag !== undefined) headers.set('if-range', etag);
  try {
    return await fetch(url, { headers, signal });
  } catch (error) {
    throw asBroken(error, caller);
  }
}

/** Throws unless the answer's body holds what was asked for. */
function startOf(response: Response, { url, offset }: TransferRequest): number {
  const { status } = response;
  const answer = `the server answered ${status} ${response.statusText}`.trimEnd();
  if (status === 200) return 0;
  if (status === 206 && firstByteOf(response) === offset) return offset;
  if (status === 206 || (status === 416 && offset > 0)) {
    throw new ResumeRefused(`${answer} when asked for the bytes from ${offset} on`);
  }
  if (status === 408 || status === 429 || status >= 500) {
    throw new BrokenTransfer(answer, { retryAfterMs: retryAfterOf(response) });
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
  if (length !== undefined && bytes < length) throw new BrokenTransfer(`${bytes} bytes came instead of ${length}`);
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

/** Milliseconds; the header holds seconds or a date. */
function retryAfterOf(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function asBroken(error: unknown, caller: AbortSignal): BrokenTransfer {
  caller.throwIfAborted();
  if (error instanceof BrokenTransfer) return error;
  return new BrokenTransfer(`the connection failed (${reasonOf(error)})`, { cause: error });
}

/** What fetch wraps: the system's error, which on a host with several addresses has a code but no message. */
function reasonOf(error: unknown): string {
  const cause = (error as Error).cause;
  if (!(cause instanceof Error)) return (error as Error).message;
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

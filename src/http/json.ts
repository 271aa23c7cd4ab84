/** JSON bodies, read under a cap and under a budget that all requests share. */
import type { IncomingMessage } from 'node:http';
import { ProblemError, invalid } from '../problems.ts';
import { declaredLength, receive, type BodySource } from './body.ts';

/** Bytes of request bodies that may be held in memory at once; beyond it requests are refused, not the process killed. */
export class ByteBudget {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Throws `overloaded` when the bytes are not to be had now. */
  take(bytes: number): void {
    if (bytes > this.#free) {
      throw new ProblemError('overloaded', 'Too many large requests are being worked on; try again in a moment.');
    }
    this.#free -= bytes;
  }

  give(bytes: number): void {
    this.#free += bytes;
  }
}

export interface JsonLimits {
  /** The largest body that the contract allows, in bytes. */
  readonly limit: number;
  readonly budget: ByteBudget;
  /** Called with what gives the budget's bytes back; the body is held until then. */
  readonly onEnd: (release: () => void) => void;
}

export interface JsonBody {
  readonly value: object;
  readonly bytes: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export async function readJson(source: BodySource, { limit, budget, onEnd }: JsonLimits): Promise<JsonBody> {
  source.signal.throwIfAborted(); // what is held after the end, nobody gives back
  let held = 0;
  onEnd(() => budget.give(held));
  const hold = (bytes: number) => {
    if (bytes > limit) throw tooLarge(limit);
    if (bytes <= held) return;
    budget.take(bytes - held);
    held = bytes;
  };
  hold(declaredLength(source.req) ?? 0); // before the caller is told to send it
  const bytes = arrived(source.req) ?? (await receive(source, (signal) => collect(source.req, { hold, signal })));
  return { value: parseObject(bytes), bytes: bytes.length };
}

/** The body, if all of it has come together with the head: there is nothing to wait for. */
function arrived(req: IncomingMessage): Buffer | undefined {
  if (req.readableLength !== declaredLength(req)) return undefined;
  const bytes = (req.read() as Buffer | null) ?? Buffer.alloc(0);
  req.resume(); // to its end
  return bytes;
}

interface Collecting {
  /** Told how many bytes have come, before they are kept. */
  readonly hold: (bytes: number) => void;
  readonly signal: AbortSignal;
}

async function collect(req: IncomingMessage, { hold, signal }: Collecting): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    received += chunk.length;
    hold(received);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, received);
}

function parseObject(bytes: Buffer): object {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    // The error itself quotes the body, which must not reach the log.
    const detail =
      bytes.length === 0 ? 'The body is empty; a JSON object is needed.' : 'The body is not valid JSON in UTF-8.';
    throw new ProblemError('malformed-body', detail, { errors: [{ in: 'body', pointer: '', detail }] });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('body', '', 'must be a JSON object');
  return value;
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError(
    'body-too-large',
    `The body is larger than ${String(limit)} bytes, the largest that can be valid.`,
  );
}

/** Reads JSON bodies within a size limit and a memory budget shared by all requests. */
import type { IncomingMessage } from 'node:http';
import { isObject } from '../../../lib/json.ts';
import { JsonStructure } from '../../../lib/json-structure.ts';
import { currentCaller } from '../../request-scope.ts';
import { inBody, invalid, ProblemError } from '../../contract/problems.ts';
import { declaredLength, receive, type BodySource } from './receive.ts';
import { smallBody, type ByteBudget, type Reservation } from './body-budget.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { reasonOf } from '../../../lib/abort.ts';

/** Limits on the structure of a body, as measured by `JsonStructure`. */
export interface StructureLimits {
  readonly tokens: number;
  readonly depth: number;
}

/** Limits of the JSON body of an operation. */
export interface JsonRules {
  /** The largest valid body, in bytes. */
  readonly limit: number;
  readonly structure: StructureLimits;
  /** Removes properties that the schema does not declare. */
  readonly prune: (value: object) => object;
}

export interface JsonLimits extends JsonRules {
  readonly budget: ByteBudget;
  /**
   * Receives the function that releases the budget. The body counts against the budget until that function is called.
   */
  readonly onEnd: (release: () => void) => void;
}

export interface JsonBody {
  readonly value: object;
  /** Size of the body as sent. */
  readonly bytes: number;
}

export async function readJson(source: BodySource, limits: JsonLimits): Promise<JsonBody> {
  const { req, signal } = source;
  // If a body arrives together with its head, Node.js parses it right after emitting the request, so it is available a
  // microtask later.
  await Promise.resolve();
  signal.throwIfAborted(); // budget claimed after the end of the request would never be released
  if ((declaredLength(req) ?? 0) > limits.limit) throw tooLarge(limits.limit); // rejected before 100 Continue is sent
  const counter = new BodyCounter(limits);
  const bytes = arrived(req);
  if (bytes) counter.count(bytes);
  const value = limits.prune(
    parseObject(bytes ?? (await receive(source, (until) => collect(req, { counter, until })))),
  );
  return { value, bytes: counter.settle(value) };
}

/** Counts a body while it arrives. A class rather than closures saves memory, because every live stream holds one. */
class BodyCounter {
  readonly #limits: JsonLimits;
  readonly #reservation: Reservation;
  readonly #structure = new JsonStructure();
  #bytes = 0;
  /** Called when the body is evicted in favor of another one. */
  onRefused: (problem: ProblemError) => void = () => undefined;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#reservation = limits.budget.reserve(currentCaller(), this);
    limits.onEnd(() => this.#reservation.release());
  }

  refuse(problem: ProblemError): void {
    this.onRefused(problem);
  }

  /** Counts the next bytes. Throws when the body is too large, too complex, or over the memory budget. */
  count(chunk: Buffer): void {
    const { limit, structure: most } = this.#limits;
    const structure = this.#structure;
    this.#bytes += chunk.length;
    if (this.#bytes > limit) throw tooLarge(limit);
    this.#reservation.grow(this.#bytes);
    structure.add(chunk);
    if (structure.deepest > most.depth) throw refused(`be nested more than ${most.depth} levels deep`);
    if (structure.tokens > most.tokens) throw refused(`have more than ${most.tokens} objects, arrays and commas`);
  }

  /** From now on, counts only the parsed value that is kept. Returns the size of the body as sent. */
  settle(value: object): number {
    const bytes = this.#bytes;
    this.#reservation.settle(bytes <= smallBody ? maxWeightOf(bytes, this.#structure.tokens) : weigh(value));
    return bytes;
  }
}

/** Returns the body if it arrived together with the request head. */
function arrived(req: IncomingMessage): Buffer | undefined {
  if (req.readableLength !== declaredLength(req)) return undefined;
  const bytes = (req.read() as Buffer | null) ?? Buffer.alloc(0);
  req.resume(); // so that the request emits `end`
  return bytes;
}

/** On failure, releases all bytes immediately. */
function collect(
  req: IncomingMessage,
  { counter, until }: { counter: BodyCounter; until: AbortSignal },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new ByteBuffer();
    const stop = () => {
      req.off('data', add).off('end', end);
      until.removeEventListener('abort', abort);
    };
    const fail = (error: Error) => {
      stop();
      body.clear();
      reject(error);
    };
    const add = (chunk: Buffer) => {
      try {
        counter.count(chunk);
        body.add(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    const end = () => {
      stop();
      resolve(body.take());
    };
    const abort = () => fail(reasonOf(until));
    counter.onRefused = fail;
    until.addEventListener('abort', abort);
    req.on('data', add).once('end', end);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseObject(bytes: Buffer): object {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    // The error is not kept as the cause, because its message quotes the body, which must not be logged.
    const detail =
      bytes.length === 0 ? 'The body is empty; expected a JSON object.' : 'The body is not valid UTF-8 encoded JSON.';
    throw new ProblemError('malformed-body', detail, inBody('', detail));
  }
  if (!isObject(value)) throw invalid('body', '', 'must be a JSON object');
  return value;
}

/** Returns an upper bound of `weigh` without visiting each value. */
function maxWeightOf(bytes: number, tokens: number): number {
  return 2 * bytes + 32 * (tokens + 1);
}

/** Returns the approximate memory of a parsed value in bytes: 2 per UTF-16 code unit, 32 of overhead per value. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return 32 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 32;
  return Object.values(value).reduce<number>((sum, inner) => sum + weigh(inner), 32);
}

function refused(what: string): ProblemError {
  return invalid('body', '', `must not ${what}`);
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError('body-too-large', `The body exceeds the limit of ${String(limit)} bytes.`);
}

/** JSON bodies, read under a cap and under a budget that all requests share. */
import type { IncomingMessage } from 'node:http';
import { currentCaller } from '../caller.ts';
import { ProblemError, invalid } from '../contract/problems.ts';
import { declaredLength, receive, type BodySource } from './body.ts';
import { smallBody, type ByteBudget } from './body-budget.ts';
import { Gathering } from './byte-buffer.ts';
import { StructureCheck, type StructureLimits } from './json-structure.ts';

/** What an operation takes. */
export interface JsonRules {
  /** The largest valid body, in bytes. */
  readonly limit: number;
  readonly structure: StructureLimits;
  /** What is kept of a body. */
  readonly prune: (value: object) => object;
}

export interface JsonLimits extends JsonRules {
  readonly budget: ByteBudget;
  /** Called with what gives the budget's bytes back; what is kept of the body counts until then. */
  readonly onEnd: (release: () => void) => void;
}

export interface JsonBody {
  readonly value: object;
  /** As it was sent. */
  readonly bytes: number;
}

export async function readJson(source: BodySource, limits: JsonLimits): Promise<JsonBody> {
  const { req, signal } = source;
  signal.throwIfAborted(); // what is held after the end, nobody gives back
  if ((declaredLength(req) ?? 0) > limits.limit) throw tooLarge(limits.limit); // before the caller is told to send it
  const gate = openGate(limits);
  const bytes = arrived(req);
  if (bytes) gate.admit(bytes);
  const value = limits.prune(parseObject(bytes ?? (await receive(source, (until) => collect(req, { gate, until })))));
  return { value, bytes: gate.settle(value) };
}

interface Gate {
  /** Takes the next bytes. Throws when the body is too large, too complex, or its memory is not to be had. */
  admit(chunk: Buffer): void;
  /** Called when the body is refused for the sake of another caller. */
  onRefused: (problem: ProblemError) => void;
  /** From now on only what is kept of the body counts. Returns how many bytes were sent. */
  settle(value: object): number;
}

function openGate({ limit, structure, budget, onEnd }: JsonLimits): Gate {
  const check = new StructureCheck(structure);
  const claim = budget.claim(currentCaller(), (problem) => gate.onRefused(problem));
  onEnd(() => claim.release());
  let bytes = 0;
  const gate: Gate = {
    admit(chunk) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      claim.grow(bytes);
      check.add(chunk);
    },
    onRefused: () => undefined,
    settle(value) {
      claim.settle(bytes <= smallBody ? mostWeightOf(bytes, check.tokens) : weigh(value));
      return bytes;
    },
  };
  return gate;
}

/** The body, if all of it has come together with the head: there is nothing to wait for. */
function arrived(req: IncomingMessage): Buffer | undefined {
  if (req.readableLength !== declaredLength(req)) return undefined;
  const bytes = (req.read() as Buffer | null) ?? Buffer.alloc(0);
  req.resume(); // to its end
  return bytes;
}

/** On failure it lets go of all bytes at once. */
function collect(req: IncomingMessage, { gate, until }: { gate: Gate; until: AbortSignal }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new Gathering();
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
        gate.admit(chunk);
        body.add(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    const end = () => {
      stop();
      resolve(body.take());
    };
    const abort = () => fail(until.reason as Error);
    gate.onRefused = fail;
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
    // The error itself quotes the body, which must not reach the log.
    const detail =
      bytes.length === 0 ? 'The body is empty; a JSON object is needed.' : 'The body is not valid JSON in UTF-8.';
    throw new ProblemError('malformed-body', detail, { errors: [{ in: 'body', pointer: '', detail }] });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('body', '', 'must be a JSON object');
  return value;
}

/** What `weigh` says at most, without a look at each value. */
function mostWeightOf(bytes: number, tokens: number): number {
  return 2 * bytes + 32 * (tokens + 1);
}

/** About the bytes that a parsed value takes in memory: two for each UTF-16 unit, 32 for the rest of each value. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return 32 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 32;
  return Object.values(value).reduce<number>((sum, inner) => sum + weigh(inner), 32);
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError(
    'body-too-large',
    `The body is larger than ${String(limit)} bytes, the largest that can be valid.`,
  );
}

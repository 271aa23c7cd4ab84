/** What every conformance suite is made of: named checks, the way to run them, and what checks look at. */
import { inspect } from 'node:util';
import { EngineError, engineErrorCodes, type EngineErrorCode } from '../../engines/contract/index.ts';
import { afterMs } from './patience.ts';

/** One rule of the engine contract. */
export interface Check<Subject> {
  readonly name: string;
  /** Rejects when the subject breaks it. A text that it resolves with says why it could not be looked at. */
  readonly run: (subject: Subject) => Promise<unknown>;
}

export interface Verdict {
  readonly check: string;
  /** Absent when the rule is kept. */
  readonly failure?: unknown;
  /** Why it could not be looked at. */
  readonly remark?: string;
}

/** How long a check may take: several whole calls, of a model that thinks. */
const patienceMs = 120_000;

/** Runs one check after the other; a failure does not stop the rest. */
export async function runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  limitMs = patienceMs,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { name, run } of checks) {
    const outOfTime = () => new OutOfTime(`a call does not end: this took more than ${limitMs / 1000} s`);
    verdicts.push(
      await within(limitMs, () => run(subject), outOfTime).then(
        (remark) => (typeof remark === 'string' ? { check: name, remark } : { check: name }),
        (failure: unknown) => ({ check: name, failure }),
      ),
    );
  }
  return verdicts;
}

/** A rule that is broken; the message says how. */
export class Nonconformance extends Error {
  override readonly name = 'Nonconformance';
}

/** A check that did not end. What it waits for may go on. */
export class OutOfTime extends Nonconformance {}

export function expectThat(kept: boolean, broken: string, cause?: unknown): asserts kept {
  if (!kept) throw new Nonconformance(broken, { cause });
}

/** For messages. */
export const shown = (value: unknown): string => inspect(value, { breakLength: Infinity });

/** What the promise resolves with; a refusal breaks the rule. */
export async function expectTaken<T>(promise: Promise<T>, what: string): Promise<T> {
  return promise.catch((error: unknown) => {
    throw new Nonconformance(`${what} should be taken, but is refused: ${String(error)}`, { cause: error });
  });
}

/** What the promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>, what: string): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  expectThat(
    'error' in outcome,
    `${what} should have been refused, but the answer is ${shown('value' in outcome && outcome.value)}`,
  );
  return outcome.error;
}

/** The refusal of what is asked for: branded, with a known code and a message for the caller. */
export async function engineErrorOf(promise: Promise<unknown>, what: string): Promise<EngineError> {
  const error = await rejectionOf(promise, what);
  expectThat(EngineError.is(error), `${what} should be refused with an EngineError, not with ${String(error)}`, error);
  const known: readonly string[] = engineErrorCodes;
  expectThat(known.includes(error.code), `${what} is refused with the code ${shown(error.code)}, which is none`, error);
  expectThat(error.message !== '', `${what} is refused without a message`, error);
  return error;
}

export async function expectRefusal(code: EngineErrorCode, promise: Promise<unknown>, what: string): Promise<void> {
  const error = await engineErrorOf(promise, what);
  expectThat(error.code === code, `${what} should be refused with ${code}, not with ${error.code}`, error);
}

/** Milliseconds that a call of the contract takes at most when it should answer from memory, or end on abort. */
export const promptMs = 250;

/** Rejects when the promise takes longer than that. */
export async function promptly<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _clock = afterMs(promptMs, () => late.reject(new Nonconformance(`${what} took more than ${promptMs} ms`)));
  return await Promise.race([promise, late.promise]);
}

/** The clock runs before the work begins. */
async function within<T>(ms: number, work: () => Promise<T>, failure: () => Error): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(failure()), ms);
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Shared code of all conformance suites: named checks, their runner, and assertions. */
import { inspect } from 'node:util';
import { EngineError, engineErrorCodes, type EngineErrorCode } from '../../engines/contract/index.ts';
import { raceAbort, startTimeout } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { afterMs } from '../../lib/process-timer.ts';

/** One rule of the engine contract. */
export interface Check<Subject> {
  readonly name: string;
  /** Throws or rejects if the subject breaks the rule. Returns a reason if the rule could not be checked. */
  readonly run: (subject: Subject) => unknown;
}

export interface CheckResult {
  readonly check: string;
  /** The error if the rule is broken; absent otherwise. */
  readonly failure?: unknown;
  /** Why the rule could not be checked, if it was skipped. */
  readonly remark?: string;
}

/** Timeout of a check, which may make several complete calls to a reasoning model. */
const checkTimeoutMs = 120_000;

/** Runs the checks in sequence; a failure does not stop the rest. */
export async function runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  limitMs = checkTimeoutMs,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, run } of checks) {
    using timeout = startTimeout(limitMs, () => new OutOfTime(`timeout: the check took more than ${limitMs / 1000} s`));
    results.push(
      await raceAbort(Promise.resolve(subject).then(run), timeout.signal).then(
        (remark) => (typeof remark === 'string' ? { check: name, remark } : { check: name }),
        (failure: unknown) => ({ check: name, failure }),
      ),
    );
  }
  return results;
}

/** The error thrown for a broken rule. */
export class Nonconformance extends Error {
  override readonly name = 'Nonconformance';
}

/** A check that timed out. Its call may still be running. */
export class OutOfTime extends Nonconformance {}

export function expectThat(kept: boolean, broken: string, cause?: unknown): asserts kept {
  if (!kept) throw new Nonconformance(broken, { cause });
}

/** Formats a value for messages. */
export const shown = (value: unknown): string => inspect(value, { breakLength: Infinity });

/** Expects an ISO 639-1 code or null. */
export function expectLanguage(language: unknown, where: string): void {
  const isCode = language === null || (typeof language === 'string' && /^[a-z]{2}$/.test(language));
  expectThat(isCode, `${where} has the language ${shown(language)}, neither a two-letter code nor null`);
}

/** Returns the resolved value. A rejection breaks the rule. */
export async function expectAccepted<T>(promise: Promise<T>, what: string): Promise<T> {
  return promise.catch((error: unknown) => {
    throw new Nonconformance(`${what} should be accepted, but is rejected: ${String(error)}`, { cause: error });
  });
}

/** Applies a check of the service and returns the checked copy. An exception breaks the rule. */
export function expectValid<T>(check: (value: unknown) => T, value: unknown): T {
  try {
    return check(value);
  } catch (error) {
    const why = EngineError.is(error) ? error.cause : error;
    throw new Nonconformance(`${messageOf(why)}: ${shown(value)}`);
  }
}

/**
 * Resolves with the error of a rejection, which must be a branded EngineError with a known code and a message for the
 * caller.
 */
export async function engineErrorOf(promise: Promise<unknown>, what: string): Promise<EngineError> {
  const error: unknown = await promise.then(
    (answer) => expectThat(false, `${what} should be rejected, but the answer is ${shown(answer)}`),
    (error: unknown) => error,
  );
  expectThat(EngineError.is(error), `${what} should be rejected with an EngineError, not with ${String(error)}`, error);
  const known: readonly string[] = engineErrorCodes;
  expectThat(known.includes(error.code), `${what} is rejected with the unknown code ${shown(error.code)}`, error);
  expectThat(error.message !== '', `${what} is rejected without a message`, error);
  return error;
}

export async function expectRejection(code: EngineErrorCode, promise: Promise<unknown>, what: string): Promise<void> {
  const error = await engineErrorOf(promise, what);
  expectThat(error.code === code, `${what} should be rejected with ${code}, not with ${error.code}`, error);
}

/** Maximum duration of a call that answers from memory, and of one that has been aborted. */
export const promptMs = 250;

/** Rejects if the promise takes longer than `promptMs`. */
export async function promptly<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _clock = afterMs(promptMs, () => late.reject(new Nonconformance(`${what} took more than ${promptMs} ms`)));
  return await Promise.race([promise, late.promise]);
}

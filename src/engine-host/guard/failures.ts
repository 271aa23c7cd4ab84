/** Normalizes the errors that engines throw. */
import { EngineError, engineErrorCodes, type EngineErrorCode } from '../../../engines/contract/index.ts';
import { reasonOf } from '../../../lib/abort.ts';
import { shorten } from '../../../lib/text.ts';

/** A return value that violates the engine contract. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

/** Creates the error for a call whose engine violates the contract; `what` is only logged. */
export function violation(what: string): EngineError {
  return new EngineError('engine-failed', 'The engine violated its contract.', { cause: new Error(what) });
}

/**
 * Returns the failure of a call: the engine's own `EngineError`, the signal's reason if it has aborted, or
 * `engine-failed` for any other error.
 */
export function callFailure(thrown: unknown, instance: string, signal?: AbortSignal): Error {
  const own = engineErrorOf(thrown);
  if (own !== undefined) return own;
  if (signal?.aborted) return reasonOf(signal);
  return new EngineError('engine-failed', `The engine ${instance} failed; the log of the service has the cause.`, {
    cause: asError(thrown),
  });
}

/** Failures that suggest that the availability of the model has changed. */
const changing: ReadonlySet<string> = new Set<EngineErrorCode>([
  'model-unavailable',
  'provider-auth-failed',
  'provider-misconfigured',
  'provider-unreachable',
]);

export interface FailureFacts {
  readonly instance: string;
  /** `Engine.recheck`. Never rejects. */
  readonly recheck?: (() => Promise<void>) | undefined;
}

/**
 * Returns the failure of a call. If the failure indicates a change of the model's availability, makes the engine
 * recheck it.
 */
export function failureOf(thrown: unknown, { instance, recheck }: FailureFacts, signal?: AbortSignal): Error {
  const failure = callFailure(thrown, instance, signal);
  if (EngineError.is(failure) && changing.has(failure.code)) void recheck?.();
  return failure;
}

/** Returns undefined for anything but an `EngineError` with a known code. */
export function engineErrorOf(thrown: unknown): EngineError | undefined {
  if (!EngineError.is(thrown)) return undefined;
  const { code, message, retryAfter, forOperator, cause } = thrown;
  if (!isCode(code)) return undefined;
  if (message.length <= maxMessageLength && thrown instanceof EngineError) return thrown;
  // Rebuilds the error, because it may come from a package with its own copy of the contract, or its message may be too
  // long for a response.
  return new EngineError(code, shorten(message, maxMessageLength), {
    ...{ cause, retryAfter },
    forOperator: forOperator === undefined ? undefined : shorten(forOperator, maxMessageLength),
  });
}

const maxMessageLength = 4_096;

function isCode(code: unknown): code is EngineErrorCode {
  return (engineErrorCodes as readonly unknown[]).includes(code);
}

/** Returns a thrown error as is, and wraps any other thrown value. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const isPlain = typeof thrown === 'string' || typeof thrown === 'number' || typeof thrown === 'boolean';
  return new Error(`it threw ${isPlain ? String(thrown) : `a value of type ${typeof thrown}`}`);
}

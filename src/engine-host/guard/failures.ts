/** Normalizes the errors that engines throw. */
import { EngineError, engineErrorCodes, type EngineErrorCode } from '../../../engines/contract/index.ts';
import { reasonOf } from '../../../lib/abort.ts';
import { shorten } from '../../../lib/truncate.ts';

/** A return value that violates the engine contract. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

/** The failure of a call whose engine breaks the contract; `what` is only logged. */
export function violation(what: string): EngineError {
  return new EngineError('engine-failed', 'The engine violated its contract.', { cause: new Error(what) });
}

/**
 * The failure of a call: the engine's own `EngineError`, the signal's reason once it was aborted, and `engine-failed`
 * for everything else.
 */
export function callFailure(thrown: unknown, instance: string, signal?: AbortSignal): Error {
  const own = engineErrorOf(thrown);
  if (own !== undefined) return own;
  if (signal?.aborted) return reasonOf(signal);
  return new EngineError('engine-failed', `The engine ${instance} failed; the log of the service has the cause.`, {
    cause: readable(thrown),
  });
}

/** Undefined for anything but an `EngineError` with a known code. */
export function engineErrorOf(thrown: unknown): EngineError | undefined {
  if (!EngineError.is(thrown)) return undefined;
  const { code, message, retryAfter, cause } = thrown as { [field in keyof EngineError]: unknown };
  if (!isCode(code) || typeof message !== 'string') return undefined;
  if (message.length <= longestMessage && thrown instanceof EngineError) return thrown;
  // From a package with its own copy of the contract, or forged, or too long for an answer.
  const facts = typeof retryAfter === 'number' ? { retryAfter } : {};
  return new EngineError(code, shorten(message, longestMessage), {
    cause: cause === undefined ? undefined : readable(cause),
    ...facts,
  });
}

const longestMessage = 4_096;

function isCode(code: unknown): code is EngineErrorCode {
  return (engineErrorCodes as readonly unknown[]).includes(code);
}

/** Maximum length of the chain of causes. */
const deepest = 5;

/** Copies an error for the log, so that logging never runs the engine's code. */
export function readable(thrown: unknown, depth = 0): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(`it threw ${shown(thrown)}`);
    const { message, stack, name, cause, code } = thrown as { [field in keyof NodeJS.ErrnoException]: unknown };
    const copy: NodeJS.ErrnoException = new Error(typeof message === 'string' ? message : '');
    if (cause !== undefined && depth < deepest) copy.cause = readable(cause, depth + 1);
    if (typeof code === 'string') copy.code = code;
    if (typeof name === 'string') copy.name = name;
    if (typeof stack === 'string') copy.stack = stack;
    return copy;
  } catch {
    return new Error('it threw an unreadable error');
  }
}

function shown(value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain ? String(value) : `a value of type ${typeof value}`;
}

/** The problem codes that an engine may answer with. Status and title follow from the code, in the service. */
export const engineErrorCodes = [
  'recording-empty',
  'recording-too-large',
  'recording-too-long',
  'recording-undecodable',
  'language-not-supported',
  'voice-not-supported',
  'format-not-supported',
  'unknown-model',
  'model-unavailable',
  'overloaded',
  'storage-full',
  'engine-failed',
  'engine-timeout',
  'context-length-exceeded',
  'content-rejected',
  'provider-rejected-request',
  'provider-quota-exhausted',
  'provider-rate-limited',
  'provider-auth-failed',
  'provider-misconfigured',
  'provider-unreachable',
  'provider-error',
  'provider-bad-response',
  'provider-overloaded',
  'provider-timeout',
] as const;
export type EngineErrorCode = (typeof engineErrorCodes)[number];

const brand = Symbol.for('parlance.engine-error');

/** An engine's failure. The message goes to the caller; what is private belongs into `cause`, which only the log sees. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  readonly [brand] = true;

  constructor(
    code: EngineErrorCode,
    publicMessage: string,
    { cause, retryAfter }: { cause?: unknown; retryAfter?: number } = {},
  ) {
    super(publicMessage, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** By brand, not by class: an engine from another package brings its own copy of this file. */
  static is(error: unknown): error is EngineError {
    return hasBrand(error, brand);
  }
}

const optionsBrand = Symbol.for('parlance.options-error');

/**
 * Thrown by `create()` for options that contradict each other in a way that no JSON Schema can say. It stops the start;
 * the message says which option is wrong, and what is right.
 */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly [optionsBrand] = true;

  /** By brand, as for `EngineError`. */
  static is(error: unknown): error is OptionsError {
    return hasBrand(error, optionsBrand);
  }
}

function hasBrand(error: unknown, mark: symbol): boolean {
  try {
    return typeof error === 'object' && error !== null && mark in error;
  } catch {
    return false; // a Proxy whose trap throws
  }
}

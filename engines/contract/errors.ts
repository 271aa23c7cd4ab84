/** Problem codes that an engine may use. The service derives HTTP status and title from the code. */
export const engineErrorCodes = [
  'recording-empty',
  'recording-too-large',
  'recording-too-long',
  'recording-undecodable',
  'language-not-supported',
  'voice-not-supported',
  'format-not-supported',
  'parameter-not-supported',
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
/** One of `engineErrorCodes`. */
export type EngineErrorCode = (typeof engineErrorCodes)[number];

const brand = Symbol.for('parlance.engine-error');

/**
 * A failure of an engine. Clients receive the message, up to 4,096 characters; put private details into `cause`, which
 * is only logged. `forOperator` is for the operator: in the terminal, and in the responses of a service that only its
 * own machine can reach.
 */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Seconds that the client should wait before a retry; undefined if unknown. */
  readonly retryAfter: number | undefined;
  /** Sentences that follow the message: addresses, settings, and the provider's message, without secrets. */
  readonly forOperator: string | undefined;
  readonly [brand] = true;

  /** `publicMessage`: one sentence for the client. `cause`: for the log only. `retryAfter`: seconds. */
  constructor(
    code: EngineErrorCode,
    publicMessage: string,
    {
      cause,
      retryAfter,
      forOperator,
    }: { cause?: unknown; retryAfter?: number | undefined; forOperator?: string | undefined } = {},
  ) {
    super(publicMessage, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
    this.forOperator = forOperator;
  }

  /** Checks the brand, not the class: an engine from another package has its own copy of this file. */
  static is(error: unknown): error is EngineError {
    return hasBrand(error, brand);
  }
}

const optionsBrand = Symbol.for('parlance.options-error');

/**
 * Thrown by `create()` for invalid options that no JSON Schema can express, such as options that contradict each other.
 * Startup fails; the message names the invalid option and the allowed values.
 */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly [optionsBrand] = true;

  /** Checks the brand, as `EngineError.is` does. */
  static is(error: unknown): error is OptionsError {
    return hasBrand(error, optionsBrand);
  }
}

function hasBrand(error: unknown, mark: symbol): boolean {
  return typeof error === 'object' && error !== null && mark in error;
}

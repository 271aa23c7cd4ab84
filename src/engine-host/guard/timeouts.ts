/** Timeouts of engine functions in milliseconds. Tests use shorter ones. */
export interface EngineTimeouts {
  /** For the import of the module; after it, the instance counts as failed. */
  readonly importMs: number;
  /** For `create()`; after it, the instance counts as failed. */
  readonly createMs: number;
  /** For the first `models()`, which may call a provider. */
  readonly firstModelsMs: number;
  /** For later calls of `models()`; after it, the last list is used. */
  readonly modelsMs: number;
  readonly availabilityMs: number;
  /** How long the last valid availability is used after a failure. */
  readonly standsMs: number;
  /** Retry delay after a failure of `models()` or `availability()`. */
  readonly retryMs: number;
  /**
   * Idle timeout between chat events. A tool call may be silent for up to 3600 s if the settings of an MCP server allow
   * it. Engines have shorter timeouts of their own; this one only stops calls that would never end.
   */
  readonly chatIdleMs: number;
  /** Grace period for a call after its abort. */
  readonly abortMs: number;
  /** Grace period for `prepare()`, which must stop compilers, and the timeout of `[Symbol.asyncDispose]()`. */
  readonly endMs: number;
  /** For `inspect()`, which may call a provider. */
  readonly inspectMs: number;
}

export const defaultTimeouts: EngineTimeouts = {
  importMs: 30_000,
  createMs: 30_000,
  firstModelsMs: 10_000,
  modelsMs: 1_000,
  availabilityMs: 1_000,
  standsMs: 30_000,
  retryMs: 5_000,
  chatIdleMs: 7_200_000,
  abortMs: 250,
  endMs: 5_000,
  inspectMs: 30_000,
};

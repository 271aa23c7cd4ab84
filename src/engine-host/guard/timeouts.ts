/** Timeouts of engine functions in milliseconds. Tests use shorter ones. */
export const defaultTimeouts = {
  /** Importing the module. After this timeout, the instance counts as failed. */
  importMs: 30_000,
  /** `create()`. After this timeout, the instance counts as failed. */
  createMs: 30_000,
  /** `recheck()`. */
  recheckMs: 10_000,
  /**
   * Idle timeout between chat events. A tool call may be silent for up to 3600 s if the settings of an MCP server allow
   * it. Engines have shorter timeouts of their own; this timeout only stops calls that would never end.
   */
  chatIdleMs: 7_200_000,
  /** Grace period for a call after its abort. */
  abortMs: 250,
  /** `[Symbol.asyncDispose]()`. */
  endMs: 5_000,
  /** `inspect()`, which may call a provider. */
  inspectMs: 30_000,
};

export type EngineTimeouts = Readonly<typeof defaultTimeouts>;

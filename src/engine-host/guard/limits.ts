/** How long the functions of an engine may take, in milliseconds. Tests have shorter ones. */
export interface GuardLimits {
  /** For `create()`; then the instance counts as failed. */
  readonly createMs: number;
  /** For the first `models()`: it may ask a provider. */
  readonly firstModelsMs: number;
  /** For every other one; then the last list stands. */
  readonly modelsMs: number;
  readonly availabilityMs: number;
  /** How long the last good availability stands after a failure to answer. */
  readonly standsMs: number;
  /** The pause before a question is asked again whose last answer was a failure. */
  readonly retryMs: number;
  /**
   * The longest wait for an event of a chat. Nothing may happen while a tool runs, which takes up to 3600 s where the
   * settings of an MCP server say so; engines have shorter deadlines of their own. This one ends what would never end.
   */
  readonly chatIdleMs: number;
  /** From the abort of a call until it is given up, when the engine does not end it. */
  readonly abortMs: number;
  /** The same for `prepare()`, which has compilers to end, and the deadline of `[Symbol.asyncDispose]()`. */
  readonly endMs: number;
  /** For `inspect()`, which may ask a provider. */
  readonly inspectMs: number;
}

export const defaultLimits: GuardLimits = {
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

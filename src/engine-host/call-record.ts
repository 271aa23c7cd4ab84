/** Records one call of an engine: charges the API key, and reports to the request's log line and the metrics. */
import type { Capability } from '../../engines/contract/index.ts';
import type { CallFacts, Metrics } from '../metrics/metrics.ts';
import { currentScope, type RequestScope, type Used } from '../request-scope.ts';
import type { ServedModel } from './models/served-models.ts';

export interface CallEnd extends Pick<CallFacts, 'audioMs' | 'tokens' | 'error'> {
  /** The amounts charged to the budget of the API key, even for a failed call. */
  readonly charged?: Used | undefined;
}

/** The record starts when it is constructed, in the scope of the request. Only the first call of `end` counts. */
export class CallRecord {
  readonly #call: Pick<CallFacts, 'capability' | 'engine' | 'model'>;
  readonly #metrics: Metrics | undefined;
  readonly #scope: RequestScope | undefined = currentScope();
  readonly #started = performance.now();
  #firstMs: number | undefined;
  #isOver = false;

  constructor(
    capability: Capability,
    { id, instance }: Pick<ServedModel, 'id' | 'instance'>,
    metrics: Metrics | undefined,
  ) {
    this.#call = { capability, engine: instance, model: id };
    this.#metrics = metrics;
    if (this.#scope?.usage) this.#scope.usage.model ??= id; // a chat that reads aloud keeps the chat model
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether a budget is charged. */
  get isCharged(): boolean {
    return this.#scope?.charge !== undefined;
  }

  /** Call this for every piece of output: the first call measures the time to the first output. */
  output(): void {
    this.#firstMs ??= this.#ms();
  }

  end({ charged, ...facts }: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { charge, usage, key } = this.#scope ?? {};
    if (charged) charge?.(charged);
    if (usage && facts.tokens) usage.tokens = facts.tokens.total;
    if (usage && facts.audioMs !== undefined) usage.audioMs = facts.audioMs;
    this.#metrics?.callEnded({ ...this.#call, ...facts, key: key?.name, ms: this.#ms(), firstMs: this.#firstMs });
  }

  #ms(): number {
    return performance.now() - this.#started;
  }
}

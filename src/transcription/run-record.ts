/** Records a transcription: the charge of its API key, its model and length for the access log, its metrics. */
import type { TranscriptionOptions } from '../../engines/contract/index.ts';
import { currentScope, type RequestScope } from '../request-scope.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';

/** Begins now. Either `complete` or `fail` ends it. */
export class RunRecord {
  /** The id of the model. */
  readonly #model: string;
  /** The signal of the request. */
  readonly #signal: AbortSignal;
  readonly #metrics: Metrics | undefined;
  readonly #scope: RequestScope | undefined = currentScope();
  readonly #started = performance.now();
  /** The length of the recording, if the transcript has one. */
  #audioMs: number | undefined;
  /** How far the engine has come: a run that fails is charged for it. */
  #reportedMs = 0;

  constructor(model: string, signal: AbortSignal, metrics: Metrics | undefined) {
    this.#model = model;
    this.#signal = signal;
    this.#metrics = metrics;
    if (this.#scope?.usage) this.#scope.usage.model = model;
  }

  /** The options for the engine: the same where nothing is charged. */
  watch(options: TranscriptionOptions): TranscriptionOptions {
    if (!this.#scope?.charge) return options;
    const { onSegment, onProgress, ...others } = options;
    return {
      ...others,
      ...(onSegment && {
        onSegment: (segment) => {
          this.#reached(segment.endMs);
          onSegment(segment);
        },
      }),
      onProgress: (ms, durationMs) => {
        this.#reached(ms);
        onProgress?.(ms, durationMs);
      },
    };
  }

  /** Receives what the engine has returned, before it is checked. */
  see({ durationMs }: { readonly durationMs?: number | undefined }): void {
    this.#audioMs = durationMs;
  }

  complete(): void {
    this.#charge();
    const audioMs = this.#audioMs;
    if (this.#scope?.usage && audioMs !== undefined) this.#scope.usage.audioMs = audioMs;
    this.#metrics?.transcriptionEnded({ ...this.#call(), audioMs });
  }

  fail(error: unknown): void {
    this.#charge();
    this.#metrics?.transcriptionEnded({ ...this.#call(), error: errorTypeOf(error, this.#signal) });
  }

  #reached(ms: number): void {
    this.#reportedMs = Math.max(this.#reportedMs, ms);
  }

  #charge(): void {
    this.#scope?.charge?.({ audioMs: this.#audioMs ?? this.#reportedMs });
  }

  #call() {
    return { model: this.#model, key: this.#scope?.key?.name, ms: performance.now() - this.#started };
  }
}

/** Records a chat run: charges the API key, and reports tokens to the access log, the span and the metrics. */
import type { AgentEvent, ChatCall, ChatResult, Tool, Usage } from '../../engines/contract/index.ts';
import { currentScope, type RequestScope } from '../request-scope.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';
import { beginSpan, endSpan, errorType, hasTracer, type Attributes, type Span } from '../trace.ts';
import { TokenMeter } from './token-meter.ts';

export interface ChatMetricsOptions {
  readonly model: ServedModel<'chat'>;
  readonly messages: ChatCall['messages'];
  /** The service's own tools. */
  readonly tools: readonly Tool[];
  /** Whether the caller reads the run as a stream. */
  readonly isStream: boolean;
  /** The signal of the request. */
  readonly signal: AbortSignal;
}

/** Starts with its construction. `complete` or `fail` ends it; only the first call counts. */
export class ChatMetrics {
  readonly #facts: ChatMetricsOptions;
  readonly #metrics: Metrics | undefined;
  readonly #scope: RequestScope | undefined = currentScope();
  readonly #span: Span | undefined;
  readonly #started = performance.now();
  #firstChunkMs: number | undefined;
  /** Present only if the API key has a token budget. */
  readonly #meter: TokenMeter | undefined;
  #isOver = false;

  constructor(facts: ChatMetricsOptions, metrics: Metrics | undefined) {
    this.#facts = facts;
    this.#metrics = metrics;
    this.#meter = this.#scope?.charge && new TokenMeter(facts.messages);
    this.#span = hasTracer() ? beginChatSpan(facts.model) : undefined;
  }

  /** Passed to the engine. */
  readonly onUsage = ({ totalTokens }: Usage): void => {
    this.#meter?.report(totalTokens);
  };

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Receives every event before the result. */
  see(event: AgentEvent): void {
    this.#meter?.see(event);
    if (this.#metrics === undefined || event.type === 'step-started') return;
    this.#firstChunkMs ??= this.#ms();
    if (event.type === 'tool-finished') this.#metrics.toolEnded(this.#offered(event.name), event.ok);
  }

  complete(result: ChatResult): void {
    const { usage, finishReason } = result;
    if (this.#isOver) return;
    this.#isOver = true;
    this.#firstChunkMs ??= this.#ms();
    this.#meter?.see({ type: 'completed', result });
    this.#charge();
    if (usage && this.#scope?.usage) this.#scope.usage.tokens = usage.totalTokens;
    if (this.#span) endSpan(this.#span, attributesOf(usage, finishReason));
    const tokens = usage && { input: usage.promptTokens, output: usage.completionTokens, total: usage.totalTokens };
    this.#metrics?.chatEnded({ ...this.#call(), ...(tokens && { tokens }) });
  }

  fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#charge();
    if (this.#span) endSpan(this.#span, { 'error.type': errorType(reason) });
    this.#metrics?.chatEnded({ ...this.#call(), error: errorTypeOf(reason, this.#facts.signal) });
  }

  #charge(): void {
    const tokens = this.#meter?.tokens(this.#facts.signal.aborted);
    if (tokens !== undefined) this.#scope?.charge?.({ tokens });
  }

  #call() {
    const { model, isStream } = this.#facts;
    const firstChunkMs = isStream ? this.#firstChunkMs : undefined;
    return { engine: model.instance, model: model.id, key: this.#scope?.key?.name, ms: this.#ms(), firstChunkMs };
  }

  #ms(): number {
    return performance.now() - this.#started;
  }

  /** Returns the name if the run has this tool, else `other`: models also call tools that do not exist. */
  #offered(name: string): string {
    return this.#facts.tools.some((tool) => tool.name === name) ? name : 'other';
  }
}

/** Follows OpenTelemetry's conventions for generative AI: a client span that includes the tool calls. */
function beginChatSpan({ id, instance }: ServedModel): Span | undefined {
  return beginSpan('client', `chat ${id}`, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': instance,
    'gen_ai.request.model': id,
  });
}

function attributesOf(usage: Usage | null | undefined, finishReason: string): Attributes {
  return {
    'gen_ai.response.finish_reasons': [finishReason],
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.promptTokens,
      'gen_ai.usage.output_tokens': usage.completionTokens,
    }),
  };
}

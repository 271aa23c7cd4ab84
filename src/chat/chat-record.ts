/** Records a chat run: counts its tokens, and adds a span and the tool calls to the record of the engine call. */
import type { AgentEvent, ChatCall, Tool, Usage } from '../../engines/contract/index.ts';
import { CallRecord, type CallEnd } from '../engine-host/call-record.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';
import { beginSpan, endSpan, errorType, hasTracer, type Attributes, type Span } from '../trace.ts';
import { TokenMeter } from './token-meter.ts';

export interface ChatRecordOptions {
  readonly model: ServedModel<'chat'>;
  readonly messages: ChatCall['messages'];
  /** The service's own tools. */
  readonly tools: readonly Tool[];
  /** Whether the caller reads the run as a stream. */
  readonly isStream: boolean;
  /** The signal of the request. */
  readonly signal: AbortSignal;
}

/** The record starts when it is constructed and ends with the first call of `complete` or `fail`. */
export class ChatRecord {
  readonly #options: ChatRecordOptions;
  readonly #metrics: Metrics | undefined;
  readonly #record: CallRecord;
  readonly #span: Span | undefined;
  /** Present only if the API key has a token budget. */
  readonly #meter: TokenMeter | undefined;

  constructor(options: ChatRecordOptions, metrics: Metrics | undefined) {
    this.#options = options;
    this.#metrics = metrics;
    this.#record = new CallRecord('chat', options.model, metrics);
    if (this.#record.isCharged) this.#meter = new TokenMeter(options.messages);
    if (hasTracer()) this.#span = beginChatSpan(options.model);
  }

  /** The engine calls this to report token usage. */
  readonly onUsage = ({ totalTokens }: Usage): void => {
    this.#meter?.report(totalTokens);
  };

  get isOver(): boolean {
    return this.#record.isOver;
  }

  /** Call this with every event before the result. */
  see(event: AgentEvent): void {
    this.#meter?.see(event);
    if (this.#options.isStream && event.type !== 'step-started') this.#record.output();
    if (event.type === 'tool-finished') this.#metrics?.toolEnded(this.#offered(event.name), event.ok);
  }

  complete(event: Extract<AgentEvent, { type: 'completed' }>): void {
    const { usage, finishReason } = event.result;
    this.see(event);
    if (this.#span) endSpan(this.#span, attributesOf(usage, finishReason));
    const tokens = usage && { input: usage.promptTokens, output: usage.completionTokens, total: usage.totalTokens };
    this.#end({ tokens: tokens ?? undefined });
  }

  fail(reason: unknown): void {
    if (this.#span) endSpan(this.#span, { 'error.type': errorType(reason) });
    this.#end({ error: errorTypeOf(reason, this.#options.signal) });
  }

  #end(end: CallEnd): void {
    const tokens = this.#meter?.tokens(this.#options.signal.aborted);
    this.#record.end({ ...end, charged: tokens === undefined ? undefined : { tokens } });
  }

  /**
   * Returns the name if the run has this tool, otherwise `other`, because models sometimes call tools that do not
   * exist.
   */
  #offered(name: string): string {
    return this.#options.tools.some((tool) => tool.name === name) ? name : 'other';
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

function attributesOf(usage: Usage | null, finishReason: string): Attributes {
  return {
    'gen_ai.response.finish_reasons': [finishReason],
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.promptTokens,
      'gen_ai.usage.output_tokens': usage.completionTokens,
    }),
  };
}

import type { Engine } from './engine.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatCall {
  readonly messages: readonly Message[];
  readonly model: string;
  /** Absent means the provider's own default, for this and the next two. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Answers what the model reads. A failure is thrown; the loop tells the model and goes on. */
  run(
    args: Readonly<Record<string, unknown>>,
    call: { readonly signal: AbortSignal; readonly emit: (event: ToolEvent) => void },
  ): Promise<string>;
}

/** What a tool may say of itself while it runs. */
export type ToolEvent =
  | { readonly type: 'progress'; readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'audio'; readonly clip: { readonly id: string; readonly mediaType: string } };

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
}

export type FinishReason = 'stop' | 'length' | 'content_filter';

export interface ChatResult {
  readonly content: string;
  readonly finishReason: FinishReason;
  readonly reasoning: string | null;
  readonly usage: Usage | null;
}

/** Steps count from 0; `call` numbers the tool calls of a step in the model's order, from 0. */
export type AgentEvent =
  | { readonly type: 'step-started'; readonly step: number }
  | { readonly type: 'reasoning-delta'; readonly step: number; readonly delta: string }
  | { readonly type: 'content-delta'; readonly step: number; readonly delta: string }
  | {
      readonly type: 'tool-started';
      readonly step: number;
      readonly call: number;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'tool-event'; readonly step: number; readonly call: number; readonly event: ToolEvent }
  | {
      readonly type: 'tool-finished';
      readonly step: number;
      readonly call: number;
      readonly name: string;
      readonly ok: boolean;
      readonly output?: string;
      readonly error?: string;
      readonly durationMs: number;
    }
  | { readonly type: 'completed'; readonly result: ChatResult };

export interface ChatEngine extends Engine {
  /**
   * The run's events; exactly one `completed`, always last. A failure is thrown as an `EngineError`. A wait of 2 hours for
   * the next event ends the run with `engine-timeout`; time in which nobody reads does not count.
   */
  complete(
    call: ChatCall,
    options: { readonly signal: AbortSignal; readonly tools: readonly Tool[] },
  ): AsyncIterable<AgentEvent>;
}

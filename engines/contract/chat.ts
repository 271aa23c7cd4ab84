import type { Engine } from './engine.ts';

export interface Message {
  /** `tool`: the output of a tool that the caller ran. Only for entries that support `tools`. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** In user messages with images: the whole message in order; `content` has its texts alone. Only for entries that support `images`. */
  readonly parts?: readonly MessagePart[];
  /** In assistant messages: calls of the caller's tools. Each is answered by one of the `tool` messages that follow. */
  readonly toolCalls?: readonly ToolCall[];
  /** In `tool` messages: the id of the call that the message answers. */
  readonly toolCallId?: string;
}

export type MessagePart = { readonly type: 'text'; readonly text: string } | ImagePart;

export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

/** An image that the caller has sent, up to 10 MB; its first bytes fit its type. */
export interface ImagePart {
  readonly type: 'image';
  readonly mediaType: (typeof imageTypes)[number];
  /** Base64. */
  readonly data: string;
  /** As OpenAI names it: `low`, `high`, `auto`. */
  readonly detail?: string;
}

/** A call of a tool of the caller. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it: not validated. */
  readonly arguments: string;
}

/** A tool that the caller runs: the model's calls of it end the run. */
export interface CallerTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/**
 * The fields of `ChatCall.provider`, as OpenAI names them. None of them overrides what the call itself says: the model,
 * the messages, the tools, streaming.
 */
export const providerFields = [
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
] as const;
export type ProviderField = (typeof providerFields)[number];

export interface ChatCall {
  readonly messages: readonly Message[];
  readonly model: string;
  /** If absent, the provider's default applies; the same holds for `maxTokens` and `topP`. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
  /**
   * Tools of the caller. Then the engine gets no tools of the service, makes one step, and returns the model's calls as
   * `ChatResult.toolCalls`. Only for entries that support `tools`.
   */
  readonly tools?: readonly CallerTool[];
  readonly toolChoice?: ToolChoice;
  /**
   * Further fields of OpenAI's chat completions, as the caller sent them: only those of `providerFields`. Only for entries
   * that support `json`. A field that changes the answer is obeyed, or the call fails with `parameter-not-supported`.
   */
  readonly provider?: Readonly<Record<string, unknown>>;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `args`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * Resolves to the output that the model reads. If it throws, the model receives the error message and the run goes on.
   * An `emit` that throws ends the call with `engine-failed`.
   */
  run(
    args: Readonly<Record<string, unknown>>,
    call: { readonly signal: AbortSignal; readonly emit: (event: ToolEvent) => void },
  ): Promise<string>;
}

/** Events that a tool may emit while it runs. */
export type ToolEvent =
  | { readonly type: 'progress'; readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'audio'; readonly clip: { readonly id: string; readonly mediaType: string } };

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
}

/** `tool_calls`: the model called tools of the caller. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';

export interface ChatResult {
  /** The content deltas of the last step. */
  readonly content: string;
  readonly finishReason: FinishReason;
  /** The reasoning deltas of all steps, with an empty line between those of different steps; null: there are none. */
  readonly reasoning: string | null;
  readonly usage: Usage | null;
  /** With the finish reason `tool_calls`, and only then: at least one. */
  readonly toolCalls?: readonly ToolCall[];
}

/** `step` counts from 0. `call` is the index of the tool call within its step, in the model's order. */
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

export interface ChatOptions {
  readonly signal: AbortSignal;
  readonly tools: readonly Tool[];
  /**
   * For engines with several rounds: call it after each with the usage of the run so far. A run that then fails or is
   * aborted is charged for these, and an estimate for the rest. The usage of the result wins if it has more.
   */
  readonly onUsage?: (usage: Usage) => void;
}

export interface ChatEngine extends Engine {
  /**
   * The events of the run; the last one, and only the last, is `completed`. Failures are thrown as `EngineError`. If the
   * next event takes longer than 2 hours, the run ends with `engine-timeout`; backpressure does not count as waiting.
   */
  complete(call: ChatCall, options: ChatOptions): AsyncIterable<AgentEvent>;
}

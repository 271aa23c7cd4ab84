import type { Engine } from './engine.ts';

/** A message of a conversation. */
export interface Message {
  /** `tool`: the output of a tool that the caller ran. Only for entries that support `tools`. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text; "" in an assistant message that only calls tools. */
  readonly content: string;
  /**
   * In user messages with images: the whole message in order; `content` has only its texts. Only for entries that
   * support `images`.
   */
  readonly parts?: readonly MessagePart[];
  /** In assistant messages: calls to the caller's tools. Each is answered by one of the `tool` messages that follow. */
  readonly toolCalls?: readonly ToolCall[];
  /** In `tool` messages: the id of the call that the message answers. */
  readonly toolCallId?: string;
}

/** A text or an image of a message. */
export type MessagePart = { readonly type: 'text'; readonly text: string } | ImagePart;

/** Media types that an image may have. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

/** An image that the caller has sent, up to 10 MB. The service has checked that its first bytes match its type. */
export interface ImagePart {
  readonly type: 'image';
  readonly mediaType: (typeof imageTypes)[number];
  /** The bytes in Base64. */
  readonly data: string;
  /** Resolution at which the model sees the image, as in OpenAI's API: `low`, `high` or `auto`. */
  readonly detail?: string;
}

/** The model's call of a tool that the caller runs. */
export interface ToolCall {
  /** Unique in the conversation. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** JSON text as the model wrote it: not validated. */
  readonly arguments: string;
}

/** A tool that the caller runs. When the model calls it, the run ends. */
export interface CallerTool {
  readonly name: string;
  /** Describes to the model what the tool does. */
  readonly description?: string;
  /** JSON Schema of the arguments. Defaults to no arguments if not specified. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Whether the model may call a tool, must not, must call some tool, or must call the named one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/**
 * The fields of `ChatCall.provider`, as OpenAI names them. They never override what the call itself specifies: the
 * model, the messages, the tools, streaming.
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
/** One of `providerFields`. */
export type ProviderField = (typeof providerFields)[number];

/** A chat request for an engine. */
export interface ChatCall {
  /** The conversation, oldest message first; at least one. */
  readonly messages: readonly Message[];
  /** Id of one of the engine's entries. */
  readonly model: string;
  /** Sampling temperature, 0 to 2. Defaults to the provider's default if not specified. */
  readonly temperature?: number;
  /** Maximum number of completion tokens. Defaults to the provider's default if not specified. */
  readonly maxTokens?: number;
  /** Nucleus sampling, 0 to 1. Defaults to the provider's default if not specified. */
  readonly topP?: number;
  /**
   * Tools of the caller. If present, the engine gets no tools of the service, performs one step, and returns the
   * model's calls as `ChatResult.toolCalls`. Only for entries that support `tools`.
   */
  readonly tools?: readonly CallerTool[];
  /**
   * Whether the model must call one of `tools`.
   * @default 'auto'
   */
  readonly toolChoice?: ToolChoice;
  /**
   * Further fields of OpenAI's chat completions, as the caller sent them: only `providerFields`. Only for entries that
   * support `json`. The engine obeys a field that changes the answer, or rejects with `parameter-not-supported`.
   */
  readonly provider?: Readonly<Record<string, unknown>>;
}

/** A tool of the service, which the engine runs when the model calls it. */
export interface Tool {
  readonly name: string;
  /** Describes to the model what the tool does. */
  readonly description: string;
  /** JSON Schema of `args`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * Resolves with the output that the model reads. If it throws, the model receives the error message and the run goes
   * on. An `emit` that throws ends the call with `engine-failed`.
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

/** Tokens of a run: the sum of all its steps, as the provider counts them. */
export interface Usage {
  /** Tokens of the messages and the tool definitions. */
  readonly promptTokens: number;
  /** Tokens that the model generated, including reasoning. */
  readonly completionTokens: number;
  /** `promptTokens` and `completionTokens`. */
  readonly totalTokens: number;
  /** The part of `completionTokens` that is reasoning; 0 if the provider does not report it. */
  readonly reasoningTokens: number;
}

/** Why the model stopped. `length`: the token limit was reached; `tool_calls`: the model called tools of the caller. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';

/** The result of a run. */
export interface ChatResult {
  /** The content deltas of the last step that were not retracted. */
  readonly content: string;
  readonly finishReason: FinishReason;
  /** The reasoning deltas of all steps, with an empty line between steps; null if there are none. */
  readonly reasoning: string | null;
  /** Tokens of the run; null if the provider does not report them. */
  readonly usage: Usage | null;
  /** Present if, and only if, `finishReason` is `tool_calls`: at least one call. */
  readonly toolCalls?: readonly ToolCall[];
}

/**
 * An event of a run. `step` counts from 0. `call` is the index of the tool call within its step, in the model's order.
 * `durationMs` is in milliseconds.
 */
export type AgentEvent =
  | { readonly type: 'step-started'; readonly step: number }
  | { readonly type: 'reasoning-delta'; readonly step: number; readonly delta: string }
  | { readonly type: 'content-delta'; readonly step: number; readonly delta: string }
  /**
   * The content of the step so far was reasoning, and is sent again as reasoning: some models mark only the end of
   * their reasoning.
   */
  | { readonly type: 'content-retracted'; readonly step: number }
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

/** The second argument of `ChatEngine.complete`. */
export interface ChatOptions {
  /** Aborts when the caller disconnects, and at shutdown. */
  readonly signal: AbortSignal;
  /** Tools of the service that the model may call; empty if the call has tools of the caller. */
  readonly tools: readonly Tool[];
  /**
   * For engines with several steps: call it after each step with the usage of the run so far. A run that then fails or
   * is aborted is charged for that usage, plus an estimate for the rest. The usage of the result replaces it if their
   * totals differ.
   */
  readonly onUsage?: (usage: Usage) => void;
}

/** An engine with the capability `chat`. */
export interface ChatEngine extends Engine {
  /**
   * Yields the events of the run; the last one, and only the last, is `completed`. Failures are thrown as
   * `EngineError`. If the next event takes longer than 2 hours, the run ends with `engine-timeout`; backpressure does
   * not count as waiting.
   *
   * @example
   * import type { ChatEngine } from '@parlance/server/engine';
   *
   * export const complete: ChatEngine['complete'] = async function* ({ messages }, { signal }) {
   *   signal.throwIfAborted();
   *   const content = `You said: ${messages.at(-1)?.content}`;
   *   yield { type: 'step-started', step: 0 };
   *   yield { type: 'content-delta', step: 0, delta: content };
   *   yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
   * };
   */
  complete(call: ChatCall, options: ChatOptions): AsyncIterable<AgentEvent>;
  /**
   * Called while the user of a live conversation connects or speaks, for local models: the engine can load the model
   * and read the conversation in advance. `call` is the next call with a blank last message, which stands for what the
   * user is about to say. Gives way to every call, and calls no tool. Not awaited; failures are only logged.
   */
  warmUp?(call: ChatCall, options: Pick<ChatOptions, 'signal' | 'tools'>): Promise<void>;
}

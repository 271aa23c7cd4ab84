/** The agent loop: the model answers, its tools run, their outputs go back to the model, which answers again. */
import type { AgentEvent, ChatCall, ChatOptions, ChatResult, FinishReason, Tool, Usage } from '../../contract/index.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Delta } from './delta.ts';
import { RoundText } from './round-text.ts';
import { runToolCalls, toToolCall, type CallRequest } from './tool-calls.ts';

/** The conversation of one run with a model. */
export interface Conversation {
  /** Requests the next round. In the last round, no tool may be called. */
  requestRound(isLast: boolean, signal: AbortSignal): RoundStream;
  /** Adds a round that called tools, with the output of each call. */
  append(round: Round, outputs: readonly string[]): void;
}

export interface RoundStream {
  /** The deltas as they arrive. Throws an `EngineError`, or the signal's reason. */
  readonly deltas: AsyncIterable<readonly Delta[]>;
  /** The rest of the round, once the deltas have ended. Throws an `EngineError`. */
  end(): RoundEnd;
}

/** A complete round. */
export interface Round extends RoundEnd {
  readonly content: string;
  readonly reasoning: string;
}

export interface RoundEnd {
  /** The calls, in the model's order; with `length` and `content_filter`, they are incomplete and must not run. */
  readonly calls: readonly CallRequest[];
  readonly finish: FinishReason;
  readonly usage: Usage | undefined;
  /** Provider-specific data that the conversation needs to replay the round. */
  readonly replay?: readonly JsonObject[];
  /** The provider's finish reason, if it is unknown to this engine. */
  readonly unknownReason?: string | undefined;
}

export interface Loop {
  readonly conversation: Conversation;
  readonly tools: readonly Tool[];
  readonly maxSteps: number;
  /**
   * True if the tools are the caller's: the first round is the only one, and its calls are the result. Defaults to
   * false.
   */
  readonly returnsCalls?: boolean;
  readonly onUsage?: ChatOptions['onUsage'];
}

/** True if the caller runs the tools of the chat, or has run some: the tools of the service are then not offered. */
export function hasCallerTools({ tools = [], messages }: ChatCall): boolean {
  return tools.length > 0 || messages.some(({ role, toolCalls = [] }) => role === 'tool' || toolCalls.length > 0);
}

/** Throws an `EngineError`, or the signal's reason. */
export async function* runLoop(
  { conversation, tools, maxSteps, returnsCalls = false, onUsage }: Loop,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, void, undefined> {
  const rounds: Round[] = [];
  let usage: Usage | null = null;
  for (let step = 0; ; step += 1) {
    const isLast = !returnsCalls && step + 1 === maxSteps;
    yield { type: 'step-started', step };
    const stream = conversation.requestRound(isLast, signal);
    const text = new RoundText();
    for await (const deltas of stream.deltas) {
      for (const event of text.take(deltas)) yield { ...event, step };
    }
    for (const event of text.end()) yield { ...event, step };
    signal.throwIfAborted();
    const round: Round = { ...stream.end(), content: text.content, reasoning: text.reasoning };
    rounds.push(round);
    if (round.usage) {
      usage = usage ? sum(usage, round.usage) : round.usage;
      onUsage?.(usage);
    }
    const wantsTools = round.finish === 'stop' && round.calls.length > 0;
    if (wantsTools && returnsCalls) {
      yield { type: 'completed', result: { ...resultOf(rounds, usage, 'tool_calls'), toolCalls: round.calls } };
      return;
    }
    if (!wantsTools || isLast) {
      yield { type: 'completed', result: resultOf(rounds, usage, wantsTools ? 'length' : round.finish) };
      return;
    }
    const calls = round.calls.map(toToolCall);
    const outputs = yield* runToolCalls(calls, { step, tools, signal });
    conversation.append({ ...round, calls: calls.map(({ request }) => request) }, outputs);
  }
}

/** `usage` is null until a round has reported it. */
function resultOf(rounds: readonly Round[], usage: Usage | null, finishReason: FinishReason): ChatResult {
  const reasoning = rounds.map((round) => round.reasoning).filter((text) => text !== '');
  return {
    content: rounds.at(-1)?.content ?? '',
    finishReason,
    reasoning: reasoning.length > 0 ? reasoning.join('\n\n') : null,
    usage,
  };
}

function sum(a: Usage, b: Usage): Usage {
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  };
}

/** A conversation with the loaded model, for the agent loop: one question to the program for each round. */
import { randomUUID } from 'node:crypto';
import { EngineError, type CallerTool, type ChatCall, type Message, type Tool } from '../contract/index.ts';
import { isObject, objectsOf, parseObject, textOf } from '../../lib/json.ts';
import type { Delta } from '../lib/agent/delta.ts';
import type { Conversation, RoundEnd, RoundStream } from '../lib/agent/loop.ts';
import { toGrammarSchema, writable } from './grammar-schema.ts';
import type { HostAnswer, HostQuestion } from './host.ts';
import type { FunctionCall, HistoryItem } from './library-types.ts';

/** Sends a question to the program, whose messages are the deltas. */
export type Ask = (
  question: HostQuestion,
  onMessage: (message: Readonly<Record<string, unknown>>) => void,
  signal: AbortSignal,
) => Promise<unknown>;

interface ConverseOptions {
  readonly ask: Ask;
  readonly tools: readonly (Tool | CallerTool)[];
  readonly contextSize: number;
  readonly reasons: boolean;
}

/** The values that the makers of Qwen3 recommend, for answers and for reasoning. They also suit other models. */
const sampling = {
  answer: { temperature: 0.7, topP: 0.8, topK: 20 },
  reasoning: { temperature: 0.6, topP: 0.95, topK: 20 },
};

export function converse(call: ChatCall, { ask, contextSize, ...options }: ConverseOptions): Conversation {
  const { history, ...fixed } = toQuestion(call, options);
  /** Tokens that the run may still generate. */
  let left = call.maxTokens;

  function requestRound(_isLast: boolean, signal: AbortSignal): RoundStream {
    const question = { ...fixed, history, ...(left !== undefined && { maxTokens: left }) };
    requireFitting(question, contextSize);
    let answer: HostAnswer | undefined;
    async function* deltas(): AsyncGenerator<readonly Delta[]> {
      const messages = receive((onMessage) => ask(question, onMessage, signal));
      for await (const batch of messages.batches) {
        const next = batch.flatMap(toDelta);
        if (next.length > 0) yield next;
      }
      answer = readAnswer(await messages.end);
    }
    return { deltas: deltas(), end: () => toEnd(answer, contextSize) };
  }

  return {
    requestRound,
    append({ content, calls, usage }, outputs) {
      if (left !== undefined) left = Math.max(1, left - (usage?.completionTokens ?? 0));
      const made = calls.map(({ name, arguments: json }, index) => toFunctionCall(name, json, outputs[index] ?? ''));
      addResponse(history, [content, ...made]);
    },
  };
}

type QuestionOptions = Pick<ConverseOptions, 'tools' | 'reasons'>;

function toQuestion(call: ChatCall, { tools, reasons }: QuestionOptions) {
  const defaults = sampling[reasons ? 'reasoning' : 'answer'];
  const { messages, temperature = defaults.temperature, topP = defaults.topP } = call;
  const functions = Object.fromEntries(tools.map(toFunction));
  return { history: toHistory(messages), functions, ...{ temperature, topP, topK: defaults.topK } };
}

/** Returns a question that only reads the conversation. */
export function toWarmUp(call: ChatCall, { contextSize, ...options }: Omit<ConverseOptions, 'ask'>) {
  const question = { ...toQuestion(call, options), onlyRead: true };
  requireFitting(question, contextSize);
  return question;
}

/** Buffers messages until they are read. `end` resolves with the result of `work`. */
function receive(work: (onMessage: (message: object) => void) => Promise<unknown>) {
  let waiting: object[] = [];
  let wake = () => {};
  let isOver = false;
  const end = work((message) => {
    waiting.push(message);
    wake();
  }).finally(() => {
    isOver = true;
    wake();
  });
  end.catch(() => undefined); // handled where `end` is awaited
  async function* batches(): AsyncGenerator<readonly object[]> {
    while (waiting.length > 0 || !isOver) {
      const batch = waiting;
      waiting = [];
      if (batch.length > 0) yield batch;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return { batches: batches(), end };
}

function toDelta(message: object): Delta[] {
  const { content, thought } = message as { readonly content?: unknown; readonly thought?: unknown };
  if (typeof content === 'string') return [{ type: 'content-delta', delta: content }];
  return typeof thought === 'string' ? [{ type: 'reasoning-delta', delta: thought }] : [];
}

function readAnswer(answer: unknown): HostAnswer {
  if (!isObject(answer)) throw new EngineError('engine-failed', 'The model failed.');
  return answer as unknown as HostAnswer;
}

function toEnd(answer: HostAnswer | undefined, contextSize: number): RoundEnd {
  if (!answer) throw new EngineError('engine-failed', 'The model ended without an answer.');
  if ('tooLong' in answer) throw tooLong(`${answer.tooLong} tokens`, contextSize);
  const { finish, promptTokens, completionTokens, reasoningTokens } = answer;
  const calls = objectsOf(answer.calls).map(({ name, arguments: json }) => ({
    id: randomUUID(),
    name: textOf(name),
    arguments: textOf(json),
  }));
  const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, reasoningTokens };
  return { calls, finish, usage };
}

function tooLong(length: string, contextSize: number): EngineError {
  return new EngineError(
    'context-length-exceeded',
    `The conversation has ${length}; the model's context has ${contextSize} tokens.`,
  );
}

/**
 * No tokenizer puts more bytes into a token. While the program counts tokens, it answers no other question, and it cuts
 * off long lines (host-program.ts).
 */
const [maxBytesPerToken, maxQuestionBytes] = [64, 1_000_000];

function requireFitting(question: HostQuestion, contextSize: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(question));
  if (bytes > Math.min(maxBytesPerToken * contextSize, maxQuestionBytes)) throw tooLong(`${bytes} bytes`, contextSize);
}

/** Throws `parameter-not-supported` for a tool that no grammar can express. */
export function toFunction({ name, description, parameters }: Tool | CallerTool) {
  const params = parameters && toGrammarSchema(parameters);
  return [writable(name), { ...(description !== undefined && { description }), ...(params && { params }) }] as const;
}

// ------------------------------------------------------------------------------------------------- the history

function toHistory(messages: readonly Message[]): HistoryItem[] {
  const history: HistoryItem[] = [];
  for (const [index, { role, content, toolCalls = [] }] of messages.entries()) {
    if (role === 'system' || role === 'user') history.push({ type: role, text: content });
    if (role !== 'assistant') continue;
    const outputOf = toolCalls.length > 0 ? outputsAfter(messages, index) : noOutput;
    const calls = toolCalls.map(({ id, name, arguments: json }) => toFunctionCall(name, json, outputOf(id)));
    addResponse(history, [content, ...calls]);
  }
  addResponse(history, []); // the answer that follows
  return history;
}

const noOutput = () => '';

/**
 * Returns the outputs of a message's calls, from the tool messages that follow it. Both APIs allow an id to be reused,
 * even within a message: each call takes the first unused output with its id.
 */
function outputsAfter(messages: readonly Message[], index: number): (id: string) => string {
  const outputs = new Map<string, string[]>();
  let last = index;
  while (messages[last + 1]?.toolCallId !== undefined) last += 1;
  for (const { toolCallId = '', content } of messages.slice(index + 1, last + 1).toReversed()) {
    const others = outputs.get(toolCallId);
    if (others) others.push(content);
    else outputs.set(toolCallId, [content]);
  }
  return (id) => outputs.get(id)?.pop() ?? '';
}

/** Joins consecutive answers: the library continues the last one. */
function addResponse(history: HistoryItem[], parts: readonly (string | FunctionCall)[]): void {
  const response = parts.filter((part) => part !== '');
  const last = history.at(-1);
  if (last?.type === 'model') history[history.length - 1] = { ...last, response: [...last.response, ...response] };
  else history.push({ type: 'model', response });
}

function toFunctionCall(name: string, json: string, result: string): FunctionCall {
  return { type: 'functionCall', name, params: parseObject(json) ?? {}, result };
}

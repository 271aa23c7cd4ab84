/** OpenAI's /chat/completions, including the deviations of other providers. */
import type { OpenAI } from 'openai';
import {
  EngineError,
  type CallerTool,
  type ChatCall,
  type FinishReason,
  type Message,
  type MessagePart,
  type ToolChoice,
  type Usage,
} from '../contract/index.ts';
import type { Delta } from '../lib/agent/delta.ts';
import type { RoundEnd } from '../lib/agent/loop.ts';
import { isObject, objectsOf, textOf, type JsonObject } from '../../lib/json.ts';
import type { CallRequest } from '../lib/agent/tool-calls.ts';
import { createIds } from './call-ids.ts';
import { createCallParts, type CallParts } from './call-parts.ts';
import { toolChoiceOf } from './caller-tools.ts';
import { argumentsOf, dataUrlOf, readUsage, type Dialect, type History, type RoundReader } from './dialect.ts';
import { badResponse } from '../lib/provider/failures.ts';
import type { Model } from './models.ts';
import { chatFields } from './provider-fields.ts';
import { createReasoningDetails, type ReasoningDetails } from './reasoning-details.ts';
import type { RequestVariant } from './request-variant.ts';

type Request = OpenAI.ChatCompletionCreateParamsStreaming;

export const chatCompletions: Dialect = { path: '/chat/completions', createHistory };

function createHistory(call: ChatCall, model: Model, tools: readonly CallerTool[]): History {
  const { temperature, topP, maxTokens } = call;
  const toolChoice = toolChoiceOf(call);
  /** Reasoning by message. */
  let reasonings: Map<JsonObject, JsonObject> | undefined;
  const messages = call.messages.map(toMessage);
  const nextId = createIds();
  const toolNames = new Set(tools.map(({ name }) => name));
  const callerFields = chatFields(call, tools.length > 0);
  const fixed = {
    model: model.remoteId,
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(tools.length > 0 && { tools: tools.map(toFunction) }),
    ...(toolChoice !== undefined && { tool_choice: toToolChoice(toolChoice) }),
  } satisfies Omit<Request, 'messages'>;

  return {
    request: ({ limitParam, replaysReasoning }: RequestVariant, isLast) => ({
      ...callerFields,
      ...fixed,
      messages:
        replaysReasoning && reasonings
          ? messages.map((message) => ({ ...message, ...reasonings?.get(message) }))
          : messages,
      ...(maxTokens !== undefined && { [limitParam]: maxTokens }),
      ...(tools.length > 0 && isLast && { tool_choice: 'none' }),
    }),
    read: () => new Reader(nextId, toolNames),
    append({ content, calls, replay: [reasoning, ...extras] = [] }, outputs) {
      const said = {
        role: 'assistant',
        content: content === '' ? null : content,
        tool_calls: calls.map((request, index) => ({ ...extras[index], ...toCall(request) })),
      };
      messages.push(said);
      if (reasoning !== undefined) (reasonings ??= new Map()).set(said, reasoning);
      for (const [index, { id }] of calls.entries()) {
        messages.push({ role: 'tool', tool_call_id: id, content: outputs[index] ?? '' });
      }
    },
  };
}

function toMessage({ role, content, parts, toolCalls = [], toolCallId = '' }: Message): JsonObject {
  if (parts) return { role, content: parts.map(toPart) };
  if (role === 'tool') return { role, tool_call_id: toolCallId, content };
  if (role !== 'assistant' || toolCalls.length === 0) return { role, content };
  return { role, content: content === '' ? null : content, tool_calls: toolCalls.map(toCall) };
}

function toPart(part: MessagePart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { detail } = part;
  return { type: 'image_url', image_url: { url: dataUrlOf(part), ...(detail !== undefined && { detail }) } };
}

function toCall({ id, name, arguments: json }: CallRequest): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id, type: 'function', function: { name, arguments: argumentsOf(json) } };
}

function toFunction({ name, description, parameters }: CallerTool): OpenAI.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters: { ...parameters } }),
    },
  };
}

function toToolChoice(choice: ToolChoice): OpenAI.ChatCompletionToolChoiceOption {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

// ------------------------------------------------------------------------------------------------- the answer

/** Unknown reasons are mapped to `stop`: the answer is usable, so it is not discarded. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  tool_calls: 'stop',
  function_call: 'stop',
  /** text-generation-inference and Together. */
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  /** Mistral: the context is full. */
  model_length: 'length',
  content_filter: 'content_filter',
};

const callReasons: ReadonlySet<string> = new Set(['tool_calls', 'function_call']);

/** Finish reasons that are failures: `error` of OpenRouter and Mistral, `insufficient_system_resource` of DeepSeek. */
const failures: Readonly<Record<string, () => EngineError>> = {
  error: () => new EngineError('provider-error', 'The provider failed during its response.'),
  insufficient_system_resource: () => new EngineError('provider-overloaded', 'The provider is overloaded.'),
};

/** The field name depends on the provider; reasoning is sent back under the name with which it arrived. */
const reasoningKeys = ['reasoning_content', 'reasoning'] as const;
/** The type of content parts that are not sent back. */
const thinkingParts = 'thinking';

/** A class instead of closures, and texts in pieces: every live stream holds one, and each `+=` would add an object. */
class Reader implements RoundReader {
  readonly #nextId: () => string;
  readonly #toolNames: ReadonlySet<string>;
  /** Created with the first part: most answers have none. */
  #parts: CallParts | undefined;
  #details: ReasoningDetails | undefined;
  #reasoning: Map<string, string[]> | undefined;
  readonly #content: string[] = [];
  #finish: string | undefined;
  #usage: Usage | undefined;

  /** The usage chunk may follow; the caller handles `[DONE]`. */
  readonly isComplete = false;

  constructor(nextId: () => string, toolNames: ReadonlySet<string>) {
    this.#nextId = nextId;
    this.#toolNames = toolNames;
  }

  take(chunk: JsonObject): Delta[] {
    return this.#takeChoice(chunk, 'delta');
  }

  takeWhole(answer: JsonObject): Delta[] {
    return this.#takeChoice(answer, 'message');
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  end(): RoundEnd {
    const finish = this.#finish;
    if (finish === undefined) throw badResponse('The response of the provider is incomplete.', 'no finish_reason');
    const failure = Object.hasOwn(failures, finish) ? failures[finish] : undefined;
    if (failure) throw failure();
    const known = Object.hasOwn(finishReasons, finish) ? finishReasons[finish] : undefined;
    const calls = this.#parts?.calls() ?? [];
    if (calls.length === 0 && this.#content.length === 0 && callReasons.has(finish)) {
      throw badResponse('The provider announced a tool call and sent none.', `finish_reason ${finish}`);
    }
    return {
      calls,
      usage: this.#usage,
      replay: calls.length > 0 ? this.#replay() : [],
      finish: known ?? 'stop',
      unknownReason: known === undefined ? finish : undefined,
    };
  }

  #takeChoice({ choices, usage }: JsonObject, key: 'delta' | 'message'): Delta[] {
    this.#usage = readUsage(usage) ?? this.#usage;
    const choice = objectsOf(choices).find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return []; // the usage chunk, or another answer, which was not requested
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#finish = choice.finish_reason;
    const delta = choice[key];
    return isObject(delta) ? this.#takeDelta(delta) : [];
  }

  #takeDelta(delta: JsonObject): Delta[] {
    const shown: Delta[] = [];
    for (const key of reasoningKeys) {
      const text = textOf(delta[key]);
      if (text !== '' && this.#isShown(key, text)) shown.push({ type: 'reasoning-delta', delta: text });
    }
    for (const part of objectsOf(delta.reasoning_details)) (this.#details ??= createReasoningDetails()).add(part);
    const { said, thought } = readContent(delta.content);
    if (thought !== '' && this.#isShown(thinkingParts, thought))
      shown.push({ type: 'reasoning-delta', delta: thought });
    const text = said + textOf(delta.refusal);
    if (text !== '') {
      this.#content.push(text);
      shown.push({ type: 'content-delta', delta: text });
    }
    for (const part of objectsOf(delta.tool_calls))
      (this.#parts ??= createCallParts(this.#nextId, this.#toolNames)).add(part);
    return shown;
  }

  /** Collects the text. Some providers send it under two names: only the text under the first name is emitted. */
  #isShown(key: string, text: string): boolean {
    const reasoning = (this.#reasoning ??= new Map<string, string[]>());
    const texts = reasoning.get(key) ?? [];
    texts.push(text);
    reasoning.set(key, texts);
    return reasoning.keys().next().value === key;
  }

  /** The reasoning, followed by the extra fields of each call. */
  #replay(): JsonObject[] {
    const named = [...(this.#reasoning ?? [])].filter(([key]) => key !== thinkingParts);
    const reasoning = named.map(([key, texts]) => [key, texts.join('')] as const);
    const blocks = this.#details?.blocks() ?? [];
    const content = this.#content.join('');
    const kept = {
      ...Object.fromEntries(reasoning),
      ...(blocks.length > 0 && { reasoning_details: blocks }),
      ...(content !== '' && { content }), // includes reasoning that the model wrote into the content
    };
    return [kept, ...(this.#parts?.extras() ?? [])];
  }
}

/** A string, or a list of text and thinking parts (Mistral). */
function readContent(content: unknown): { readonly said: string; readonly thought: string } {
  if (!Array.isArray(content)) return { said: textOf(content), thought: '' };
  const parts = objectsOf(content);
  const textsOf = (list: readonly JsonObject[]) => list.map(({ text }) => textOf(text)).join('');
  return { said: textsOf(parts), thought: textsOf(parts.flatMap(({ thinking }) => objectsOf(thinking))) };
}

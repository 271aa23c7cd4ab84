/** OpenAI's /responses, stateless: nothing is stored at the provider, and each round sends the whole history. */
import type { OpenAI } from 'openai';
import {
  EngineError,
  type CallerTool,
  type ChatCall,
  type FinishReason,
  type Message,
  type MessagePart,
  type ToolChoice,
} from '../contract/index.ts';
import type { Delta } from '../lib/agent/delta.ts';
import type { RoundEnd } from '../lib/agent/loop.ts';
import { isObject, objectsOf, textOf, type JsonObject } from '../../lib/json.ts';
import type { CallRequest } from '../lib/agent/tool-calls.ts';
import { createIds, distinctIds } from './call-ids.ts';
import { toolChoiceOf } from './caller-tools.ts';
import { argumentsOf, dataUrlOf, maxArgumentsLength, maxCalls, maxParts, readUsage } from './dialect.ts';
import type { Dialect, History, RoundReader } from './dialect.ts';
import { badResponse } from '../lib/provider/failures.ts';
import type { Model } from './models.ts';
import { responsesFields } from './provider-fields.ts';
import type { RequestVariant } from './request-variant.ts';
import { ResponseItems } from './response-items.ts';

type Request = OpenAI.Responses.ResponseCreateParamsStreaming;

export const responses: Dialect = { path: '/responses', createHistory };

function createHistory(call: ChatCall, model: Model, tools: readonly CallerTool[]): History {
  const { temperature, topP, maxTokens } = call;
  const toolChoice = toolChoiceOf(call);
  const { replaysReasoning } = model.variant;
  const nextId = createIds();
  const input = call.messages.flatMap(toItems);
  const fixed = {
    ...responsesFields(call, tools.length > 0, model),
    model: model.remoteId,
    stream: true,
    store: false,
    // Reasoning that is not stored can only be sent back encrypted.
    ...(replaysReasoning && { include: ['reasoning.encrypted_content'] }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(tools.length > 0 && { tools: tools.map(toFunction) }),
    ...(toolChoice !== undefined && { tool_choice: toToolChoice(toolChoice) }),
  } satisfies Omit<Request, 'input'>;

  return {
    request: (_variant: RequestVariant, isLast) => ({
      ...fixed,
      input,
      ...(tools.length > 0 && isLast && { tool_choice: 'none' }),
    }),
    read: () => createReader(nextId),
    append({ calls, replay = [] }, outputs) {
      const byId = new Map(calls.map((request) => [request.id, request]));
      for (const item of replay) {
        const again = toInput(item, byId, replaysReasoning);
        if (again !== undefined) input.push(again);
      }
      for (const [index, { id }] of calls.entries()) {
        input.push({ type: 'function_call_output', call_id: id, output: outputs[index] ?? '' });
      }
    },
  };
}

/** Converts a message; each tool call becomes a separate item. */
function toItems({ role, content, parts, toolCalls = [], toolCallId = '' }: Message): JsonObject[] {
  if (parts) return [{ role, content: parts.map(toPart) }];
  if (role === 'tool') return [{ type: 'function_call_output', call_id: toolCallId, output: content }];
  if (role !== 'assistant' || toolCalls.length === 0) return [{ role, content }];
  return [
    ...(content === '' ? [] : [{ role, content }]),
    ...toolCalls.map(({ id, name, arguments: json }) => ({
      ...{ type: 'function_call', call_id: id, name },
      arguments: argumentsOf(json),
    })),
  ];
}

function toPart(part: MessagePart): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  return { type: 'input_image', image_url: dataUrlOf(part), detail: part.detail ?? 'auto' };
}

const noParameters = { type: 'object', properties: {} } as const;

function toFunction({ name, description, parameters = noParameters }: CallerTool): OpenAI.Responses.FunctionTool {
  // Strict mode rejects schemas with optional properties, which MCP servers use.
  const tool = { type: 'function', name, parameters: { ...parameters }, strict: false } as const;
  return description === undefined ? tool : { ...tool, description };
}

function toToolChoice(choice: ToolChoice): OpenAI.Responses.ToolChoiceOptions | OpenAI.Responses.ToolChoiceFunction {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}

/** Converts an output item into an input item of the next request. Ids are dropped: they refer to stored items. */
function toInput(
  { id, status: _status, ...item }: JsonObject,
  calls: ReadonlyMap<string, CallRequest>,
  replaysReasoning: boolean,
): JsonObject | undefined {
  switch (item.type) {
    case 'reasoning':
      return replaysReasoning && isMeaningful(item) ? { ...item, id } : undefined;
    case 'function_call': {
      const call = calls.get(textOf(item.call_id));
      return call && { ...item, arguments: call.arguments };
    }
    default:
      return item.type === 'message' ? item : undefined;
  }
}

/** Reasoning that is not stored is in the item itself: encrypted, or as plain text for open models. */
function isMeaningful({ encrypted_content: encrypted, content }: JsonObject): boolean {
  return typeof encrypted === 'string' || objectsOf(content).length > 0;
}

// ------------------------------------------------------------------------------------------------- the answer

/** Values of `incomplete_details.reason`. */
const incompleteReasons: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/** Statuses of a response that is not finished. */
const unfinished: ReadonlySet<string> = new Set(['', 'queued', 'in_progress', 'cancelled']);

/** Reasoning is streamed as text or as a summary. If the provider sends both, only the kind that came first is used. */
const reasoningEvents = {
  'response.reasoning_text.delta': 'content_index',
  'response.reasoning_summary_text.delta': 'summary_index',
} as const;

function createReader(nextId: () => string): RoundReader {
  const streamed = new ResponseItems();
  let items: readonly JsonObject[] = [];
  let isCut = false;
  let hasContent = false;
  let hasReasoning = false;
  let reasoningType: string | undefined;
  /** The part of the reasoning that the latest delta belongs to. */
  let reasoningPart: string | undefined;
  let last: JsonObject | undefined;

  function takeContent(text: string): readonly Delta[] {
    if (text !== '') hasContent = true;
    return text === '' ? [] : [{ type: 'content-delta', delta: text }];
  }

  function takeReasoning(type: keyof typeof reasoningEvents, event: JsonObject): readonly Delta[] {
    const text = textOf(event.delta);
    reasoningType ??= type;
    if (reasoningType !== type || text === '') return [];
    const part = `${textOf(event.item_id)} ${String(event[reasoningEvents[type]])}`;
    const delta = reasoningPart === undefined || reasoningPart === part ? text : `\n\n${text}`;
    reasoningPart = part;
    hasReasoning = true;
    return [{ type: 'reasoning-delta', delta }];
  }

  function take(event: JsonObject): readonly Delta[] {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return takeContent(textOf(event.delta));
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return takeReasoning(event.type, event);
      case 'response.output_text.done':
      case 'response.refusal.done':
        return hasContent ? [] : takeContent(textOf(event.text) + textOf(event.refusal));
      case 'response.output_item.added':
        streamed.add(event);
        return [];
      case 'response.output_item.done':
        streamed.finish(event);
        return [];
      case 'response.function_call_arguments.delta':
      case 'response.function_call_arguments.done':
        streamed.addArguments(event);
        return [];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return isObject(event.response) ? takeWhole(event.response) : [];
      default:
        return [];
    }
  }

  /**
   * Takes the final event of a stream, or a response that was not streamed: collects the parts that were not streamed
   * before.
   */
  function takeWhole(response: JsonObject): readonly Delta[] {
    last = response;
    ({ items, isCut } = streamed.complete(objectsOf(response.output)));
    if (items.length > maxParts) throw badResponse('The response of the provider has too many parts.', 'items');
    return [...(hasReasoning ? [] : takeThoughts()), ...(hasContent ? [] : takeMessages())];
  }

  function takeThoughts(): readonly Delta[] {
    const thoughts = items.filter(({ type }) => type === 'reasoning');
    const textsOf = (key: string) => thoughts.flatMap((item) => objectsOf(item[key])).map(({ text }) => textOf(text));
    const [open, summary] = [textsOf('content'), textsOf('summary')];
    const reasoning = (open.length > 0 ? open : summary).join('\n\n');
    return reasoning === '' ? [] : [{ type: 'reasoning-delta', delta: reasoning }];
  }

  function takeMessages(): readonly Delta[] {
    const messages = items.filter(({ type }) => type === 'message');
    const parts = messages.flatMap(({ content: list }) => objectsOf(list));
    return takeContent(parts.map((part) => textOf(part.text) + textOf(part.refusal)).join(''));
  }

  return {
    take,
    takeWhole,
    get isFinished() {
      return last !== undefined;
    },
    get isComplete() {
      return last !== undefined;
    },
    end(): RoundEnd {
      const end = readEnd(last);
      const replay = withDistinctCalls(items, nextId);
      const calls = readCalls(replay);
      const isEmpty = calls.length === 0 && !hasContent && (items.length === 0 || streamed.hasUnfinished);
      if (end.finish === 'stop' && (isCut || isEmpty)) {
        throw badResponse(
          'The response of the provider is incomplete.',
          `${items.length} items, of which some have no end`,
        );
      }
      return { ...end, calls, usage: readUsage(last?.usage), replay };
    },
  };
}

/** An unknown status is not a failure, since the answer is usable. After `incomplete`, no tool call is run. */
function readEnd(response: JsonObject | undefined): Pick<RoundEnd, 'finish' | 'unknownReason'> {
  const status = textOf(response?.status);
  if (status === 'failed') throw new EngineError('provider-error', 'The provider failed during its response.');
  if (unfinished.has(status)) {
    throw badResponse('The response of the provider is incomplete.', `status ${JSON.stringify(status)}`);
  }
  if (status !== 'incomplete') return { finish: 'stop', unknownReason: status === 'completed' ? undefined : status };
  const reason = textOf(isObject(response?.incomplete_details) ? response.incomplete_details.reason : undefined);
  const known = Object.hasOwn(incompleteReasons, reason) ? incompleteReasons[reason] : undefined;
  return { finish: known ?? 'length', unknownReason: known === undefined ? `incomplete: ${reason}` : undefined };
}

/** Makes the ids of calls unique, so that each output matches its call. */
function withDistinctCalls(items: readonly JsonObject[], nextId: () => string): readonly JsonObject[] {
  const calls = items.filter(({ type }) => type === 'function_call');
  const ids = distinctIds(
    calls.map(({ call_id: id }) => textOf(id)),
    nextId,
  ).values();
  return items.map((item) => (item.type === 'function_call' ? { ...item, call_id: ids.next().value } : item));
}

function readCalls(items: readonly JsonObject[]): CallRequest[] {
  const calls = items
    .filter(({ type }) => type === 'function_call')
    .map((item) => ({ id: textOf(item.call_id), name: textOf(item.name), arguments: argumentsOf(item.arguments) }));
  const longest = calls.reduce((most, call) => Math.max(most, call.arguments.length), 0);
  if (calls.length > maxCalls || longest > maxArgumentsLength) {
    throw badResponse('The tool calls of the model exceed the limits.', `${calls.length} calls, ${longest} characters`);
  }
  return calls;
}

/** Converts the messages of a chat completion to messages of the engine contract. */
import type { Message, MessagePart, ToolCall } from '../../engines/contract/index.ts';
import { invalid } from '../contract/problems.ts';
import { contentOf, imageField, toImage, unsupportedPart } from './content-parts.ts';
import { unsupportedParameter, UnsupportedValue } from './errors.ts';
import type { Schemas } from './operations.ts';

type GivenMessage = Schemas['ChatMessage'];

/** Maximum number of code points in all texts of a request. */
const maxCharacters = 1_000_000;

export interface Conversation {
  readonly messages: readonly Message[];
  /** JSON Pointer of the first tool call, which requires a model with `tools`. */
  readonly toolField: string | undefined;
  /** JSON Pointer of the first image, which requires a model with `images`. */
  readonly imageField: string | undefined;
}

/** Throws for content that engines do not accept, and for mismatched tool calls and tool messages. */
export function toMessages(given: readonly GivenMessage[]): Conversation {
  const pairing = createPairing();
  const messages = given.map((message, index) => toMessage(message, `/messages/${index}`));
  checkLength(messages, '/messages');
  messages.forEach((message, index) => pairing.add(message, `/messages/${index}`));
  pairing.end();
  const images = messages.flatMap((message, index) => imageField(message, `/messages/${index}/content`) ?? []);
  return { messages, toolField: pairing.first, imageField: images[0] };
}

function toMessage(given: GivenMessage, at: string): Message {
  const { role, content } = given;
  if (role === 'function') throw legacy(`${at}/role`);
  if (given.function_call != null) throw legacy(`${at}/function_call`);
  switch (role) {
    case 'developer':
      return { role: 'system', content: textOf(content, at) };
    case 'assistant': {
      const toolCalls = given.tool_calls?.map((call, index) => toToolCall(call, `${at}/tool_calls/${index}`)) ?? [];
      const text = content == null ? '' : textOf(content, at, isOfAssistant);
      return { role, content: text, ...(toolCalls.length > 0 && { toolCalls }) };
    }
    case 'tool':
      if (given.tool_call_id == null) throw invalid('body', `${at}/tool_call_id`, 'is missing');
      return { role, content: textOf(content, at), toolCallId: given.tool_call_id };
    case 'user':
      return {
        role,
        ...(Array.isArray(content) ? contentOf(toParts(content, `${at}/content`)) : { content: textOf(content, at) }),
      };
    default:
      return { role, content: textOf(content, at) };
  }
}

/**
 * Returns the error for `functions` and related fields, which tools have replaced. Some apps still send them but have a
 * setting to use tools.
 */
export function legacy(field: string): Error {
  return unsupportedParameter(field, 'is not supported: send functions as tools (turn on "use tools" in your app)');
}

// -------------------------------------------------------------------------------------------------------- texts

type ContentPart = Schemas['ContentPart'];

const isOfUser = new Set(['text']);
const isOfAssistant = new Set(['text', 'refusal']);

function textOf(content: GivenMessage['content'], at: string, types = isOfUser): string {
  if (typeof content === 'string') return content;
  const field = `${at}/content`;
  if (content == null) throw invalid('body', field, 'is missing');
  return content.map((part, index) => partText(part, `${field}/${index}`, types)).join('\n');
}

function toParts(content: readonly ContentPart[], field: string): MessagePart[] {
  return content.map((part, index) => {
    const at = `${field}/${index}`;
    if (part.type === 'image_url') return toImage(part.image_url?.url, part.image_url?.detail, at);
    return { type: 'text', text: partText(part, at, isOfUser) };
  });
}

function partText({ type, text, refusal }: ContentPart, field: string, types: ReadonlySet<string>): string {
  if (!types.has(type)) throw unsupportedPart(type, field);
  const value = type === 'refusal' ? refusal : text;
  if (value === undefined) throw invalid('body', `${field}/${type}`, 'is missing');
  return value;
}

function toToolCall({ id, type = 'function', function: called }: Schemas['GivenToolCall'], field: string): ToolCall {
  if (type !== 'function') {
    throw new UnsupportedValue(`${field}/type`, `is "${type}"; only function is supported`);
  }
  return { id, name: called.name, arguments: called.arguments };
}

/** Throws if the messages exceed the maximum text length of a request. */
export function checkLength(messages: readonly Message[], pointer: string): void {
  const texts = messages.flatMap(({ content, toolCalls = [] }) => [
    content,
    ...toolCalls.flatMap((call) => [call.name, call.arguments]),
  ]);
  // Counts UTF-16 code units first, which is cheap, and there are never fewer of them than code points.
  const sum = (lengthOf: (text: string) => number) => texts.reduce((length, text) => length + lengthOf(text), 0);
  if (sum(({ length }) => length) <= maxCharacters || sum(codePointsOf) <= maxCharacters) return;
  throw invalid('body', pointer, `must not have more than ${maxCharacters} characters in all`);
}

function codePointsOf(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) pairs += 1;
  }
  return text.length - pairs;
}

// -------------------------------------------------------------------------------------------- calls and answers

/**
 * Checks that every call is answered directly after its message, and that every answer belongs to a call. Ids may
 * repeat.
 */
function createPairing() {
  let first: string | undefined;
  let calling = '';
  /** Ids of calls without an answer. */
  let open: string[] = [];

  function end(): void {
    if (open.length === 0) return;
    throw invalid('body', calling, 'must be answered right after it, each call by one message of the role tool');
  }

  return {
    get first() {
      return first;
    },
    end,
    add({ toolCalls, toolCallId }: Message, at: string): void {
      if (toolCallId !== undefined) {
        const index = open.indexOf(toolCallId);
        if (index < 0) {
          const rule = 'must be the id of an unanswered call of the assistant message before it';
          throw invalid('body', `${at}/tool_call_id`, rule);
        }
        open.splice(index, 1);
        return;
      }
      end();
      if (toolCalls === undefined) return;
      calling = `${at}/tool_calls`;
      first ??= calling;
      open = toolCalls.map(({ id }) => id);
    },
  };
}

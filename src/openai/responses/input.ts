/** Converts the input of a response request to messages of the engine contract. */
import type { Message, MessagePart, ToolCall } from '../../../engines/contract/index.ts';
import { shorten } from '../../../lib/text.ts';
import type { ItemStore } from '../../chat/item-store.ts';
import { invalid } from '../../contract/problems.ts';
import { checkLength, type Conversation } from '../chat-messages.ts';
import { contentOf, toImage, unsupportedPart } from '../content-parts.ts';
import { createConversation, type ConversationBuilder } from '../conversation.ts';
import { ItemNotFound, UnsupportedValue } from '../errors.ts';
import type { Schemas } from '../operations.ts';
import { namespacedName } from './tools.ts';

type Input = Pick<Schemas['ResponseRequest'], 'instructions' | 'input'>;
type Item = Schemas['InputItem'];
type InputPart = Schemas['InputPart'];

/** Throws for content that engines do not accept, calls without an output, and references to unknown items. */
export function toMessages({ instructions, input }: Input, items: ItemStore | undefined): Conversation {
  if (input == null || input.length === 0) throw invalid('body', '/input', 'must not be empty');
  const conversation = createConversation();
  if (instructions != null && instructions !== '') conversation.say({ role: 'system', content: instructions }, '');
  if (typeof input === 'string') conversation.say({ role: 'user', content: input }, '');
  else input.forEach((item, index) => add(conversation, item, { at: `/input/${index}`, items }));
  conversation.end();
  const { messages, toolField, imageField: image } = conversation;
  if (!messages.some(({ role }) => role !== 'system')) throw invalid('body', '/input', 'must have a message');
  checkLength(messages, '/input');
  return { messages, toolField, imageField: image };
}

interface ItemContext {
  /** JSON Pointer of the item. */
  readonly at: string;
  readonly items: ItemStore | undefined;
}

function add(conversation: ConversationBuilder, item: Item, { at, items }: ItemContext): void {
  const type = typeOf(item);
  switch (type) {
    case 'message':
      return conversation.say(toMessage(item, at), at);
    case 'function_call':
      return conversation.call(toCall(item, at), at);
    case 'function_call_output':
      return conversation.output(required(item, 'call_id', at), textOf(item.output, `${at}/output`), at);
    case 'reasoning':
      return; // providers accept only their own reasoning
    case 'item_reference':
      return refer(conversation, required(item, 'id', at), { at, items });
    default:
      throw new UnsupportedValue(`${at}/type`, `is "${type}", which is not supported`);
  }
}

/** OpenAI's clients omit the type of messages, and may also omit the type of references. */
function typeOf({ type, role, id }: Item): string {
  return type ?? (role == null && id != null ? 'item_reference' : 'message');
}

function refer(conversation: ConversationBuilder, id: string, { at, items }: ItemContext): void {
  if (id.startsWith('rs_')) return; // reasoning is not kept
  const item = items?.find(id);
  if (!item) {
    const rule = `"${shorten(id, 100)}" is not kept here; set store: false in your app, so that it sends whole items`;
    throw new ItemNotFound(`${at}/id`, rule);
  }
  if (item.type === 'message') conversation.say({ role: 'assistant', content: item.text }, at);
  else conversation.call(item.call, at);
}

function toMessage(item: Item, at: string): Message {
  const role = roleOf(item, at);
  const field = `${at}/content`;
  const { content } = item;
  if (role !== 'user' || !Array.isArray(content)) return { role, content: textOf(content, field, item.role) };
  return { role, ...contentOf(content.map((part, index) => toPart(part, `${field}/${index}`))) };
}

function toPart(part: InputPart, field: string): MessagePart {
  if (part.type === 'input_image') return toImage(part.image_url, part.detail, field);
  return { type: 'text', text: partText(part, field, 'user') };
}

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

function roleOf({ role }: Item, at: string): Message['role'] {
  if (role == null) throw invalid('body', `${at}/role`, 'is missing');
  const known = Object.hasOwn(roles, role) ? roles[role] : undefined;
  if (known === undefined) throw invalid('body', `${at}/role`, `must be one of ${Object.keys(roles).join(', ')}`);
  return known;
}

function toCall(item: Item, at: string): ToolCall {
  const name = required(item, 'name', at);
  return {
    id: required(item, 'call_id', at),
    name: item.namespace == null ? name : namespacedName(item.namespace, name),
    arguments: item.arguments ?? '',
  };
}

function required(item: Item, field: 'id' | 'call_id' | 'name', at: string): string {
  const value = item[field];
  if (value == null || value === '') throw invalid('body', `${at}/${field}`, 'is missing');
  return value;
}

// -------------------------------------------------------------------------------------------------------- texts

/** Null means empty text in assistant messages and outputs, but missing text elsewhere; [] is always empty text. */
function textOf(content: Item['content'], field: string, role: Item['role'] = 'assistant'): string {
  if (typeof content === 'string') return content;
  if (content == null) {
    if (role === 'assistant') return '';
    throw invalid('body', field, 'is missing');
  }
  return content.map((part, index) => partText(part, `${field}/${index}`, role)).join('\n');
}

function partText({ type, text, refusal }: InputPart, field: string, role: Item['role']): string {
  const isRefusal = type === 'refusal' && role === 'assistant';
  if (!isRefusal && type !== 'input_text' && type !== 'output_text') {
    throw unsupportedPart(type, field);
  }
  const value = isRefusal ? refusal : text;
  if (value == null) throw invalid('body', `${field}/${isRefusal ? type : 'text'}`, 'is missing');
  return value;
}

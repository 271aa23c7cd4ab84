/** The items of a conversation, in order. Pure. */
import { heardText, type Heard, type SpokenPiece } from '../../realtime/heard.ts';
import type { Schemas } from '../operations.ts';
import { Refused } from './errors.ts';

interface ItemHead {
  readonly id: string;
  readonly status: Schemas['RealtimeItemStatus'];
}

export interface MessageItem extends ItemHead {
  readonly type: 'message';
  readonly role: Schemas['RealtimeRole'];
  readonly content: readonly Content[];
}

export type Content =
  | { readonly type: 'input_text' | 'output_text'; readonly text: string }
  /**
   * `transcript` is null before the transcription, and after one that has failed. `pending` is set until it ends: for a
   * turn, or for an item of the client.
   */
  | { readonly type: 'input_audio'; readonly transcript: string | null; readonly pending?: 'turn' | 'item' }
  | SpokenContent;

/** `heard` is undefined if the answer was not interrupted. */
export interface SpokenContent {
  readonly type: 'output_audio';
  readonly pieces: readonly SpokenPiece[];
  readonly heard?: Heard | undefined;
}

export interface CallItem extends ItemHead {
  readonly type: 'function_call';
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** True if the response of the call was canceled. The model does not see the call. */
  readonly isDropped?: boolean;
}

export interface OutputItem extends ItemHead {
  readonly type: 'function_call_output';
  readonly callId: string;
  readonly output: string;
}

export type Item = MessageItem | CallItem | OutputItem;

export interface Conversation {
  readonly items: readonly Item[];
  /** Sum of the lengths of all items, in UTF-16 code units. */
  readonly length: number;
}

export const emptyConversation: Conversation = { items: [], length: 0 };

const maxItems = 2_000;
const maxLength = 250_000;

/** Throws `Refused` if the conversation would be too large with these items. `field` has them in the event. */
export function requireRoom({ items, length }: Conversation, more: readonly Item[], field: string): void {
  const sum = more.reduce((total, item) => total + lengthOf(item), length);
  if (items.length + more.length <= maxItems && sum <= maxLength) return;
  const rule = 'a conversation has at most 2,000 items and 250,000 characters';
  throw new Refused('context_length_exceeded', `${field}: ${rule}`, field);
}

/** Returns the cost of reading the whole conversation, in characters. Each item adds `itemSize` to its text. */
export const sizeOf = ({ items, length }: Conversation): number => length + items.length * itemSize;

const itemSize = 128;

export const findItem = ({ items }: Conversation, id: string): Item | undefined => items.find((item) => item.id === id);

/** Returns the id of the item before this one; null if it is the first. */
export function previousOf({ items }: Conversation, id: string): string | null {
  return items[items.findIndex((item) => item.id === id) - 1]?.id ?? null;
}

/** Adds an item after the item with the id `previous`, at the beginning (null), or by default at the end. */
export function insert({ items, length }: Conversation, item: Item, previous?: string | null): Conversation {
  const at = previous === undefined ? items.length : items.findIndex(({ id }) => id === previous) + 1;
  return { items: items.toSpliced(at, 0, item), length: length + lengthOf(item) };
}

/** Replaces the item with the same id. Returns the conversation unchanged if it has no such item. */
export function replace(conversation: Conversation, item: Item): Conversation {
  const { items, length } = conversation;
  const at = items.findIndex(({ id }) => id === item.id);
  const old = items[at];
  return old ? { items: items.with(at, item), length: length + lengthOf(item) - lengthOf(old) } : conversation;
}

export function remove(conversation: Conversation, id: string): Conversation {
  const { items, length } = conversation;
  const old = findItem(conversation, id);
  return old ? { items: items.filter((item) => item !== old), length: length - lengthOf(old) } : conversation;
}

/** Returns the items that begin with this one; all of them if it is undefined or was deleted. */
export function itemsFrom({ items }: Conversation, id: string | undefined): readonly Item[] {
  const at = items.findIndex((item) => item.id === id);
  return items.slice(Math.max(0, at));
}

/**
 * Returns the id of the first message of the user with which at most this share of the text remains, otherwise of the
 * last one; undefined if nothing can be left out.
 */
export function shorten(items: readonly Item[], share: number): string | undefined {
  const total = items.reduce((sum, item) => sum + lengthOf(item), 0);
  let left = total;
  let last: string | undefined;
  for (const [index, item] of items.entries()) {
    if (index > 0 && item.type === 'message' && item.role === 'user') {
      last = item.id;
      if (left <= share * total) break;
    }
    left -= lengthOf(item);
  }
  return last;
}

/** Returns the item of a committed turn. */
export const turnItem = (id: string): MessageItem => ({
  ...{ id, type: 'message', role: 'user', status: 'completed' },
  content: [{ type: 'input_audio', transcript: null, pending: 'turn' }],
});

/** Returns the `pending` of an item whose transcription has not ended. */
export function pendingOf(item: Item | undefined): 'turn' | 'item' | undefined {
  const [part] = item?.type === 'message' ? item.content : [];
  return part?.type === 'input_audio' ? part.pending : undefined;
}

export const isPending = (item: Item | undefined): boolean => pendingOf(item) !== undefined;

/** Returns the text of a part as the model sees it: of an interrupted answer, what was heard. */
export function textOf(part: Content): string {
  if (part.type === 'input_audio') return part.transcript ?? '';
  if (part.type !== 'output_audio') return part.text;
  return part.heard ? heardText(part.pieces, part.heard.ms) : transcriptOf(part);
}

/** Returns the text of all pieces that were sent. */
export const transcriptOf = ({ pieces }: SpokenContent): string => pieces.map(({ text }) => text).join('');

/** Returns the milliseconds of sound that were sent. */
export const sentMs = (part: SpokenContent | undefined): number =>
  part?.pieces.reduce((sum, { ms }) => sum + ms, 0) ?? 0;

/** Returns the spoken part of an answer. */
export function spokenPart(item: Item | undefined): SpokenContent | undefined {
  return item?.type === 'message' ? item.content.find((part) => part.type === 'output_audio') : undefined;
}

/** Replaces the end of a spoken answer. */
export function withHeard(item: MessageItem, heard: Heard): MessageItem {
  return { ...item, content: item.content.map((part) => (part.type === 'output_audio' ? { ...part, heard } : part)) };
}

function lengthOf(item: Item): number {
  switch (item.type) {
    case 'message':
      return item.content.reduce((sum, part) => sum + textOf(part).length, 0);
    case 'function_call':
      return item.name.length + item.arguments.length;
    case 'function_call_output':
      return item.output.length;
  }
}

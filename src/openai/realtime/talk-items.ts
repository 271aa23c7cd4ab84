/** The items of a conversation: what clients do with them, and the events about them. Pure. */
import { truncate } from '../../realtime/heard.ts';
import { notPlaying } from '../../realtime/playing.ts';
import { invalid } from '../../contract/problems.ts';
import type { Schemas } from '../operations.ts';
import {
  findItem,
  insert,
  isPending,
  previousOf,
  remove,
  replace,
  requireRoom,
  sentMs,
  spokenPart,
  withHeard,
  type Item,
  type MessageItem,
} from './conversation.ts';
import { Refused } from './errors.ts';
import { readItem, soundOf, toWire } from './items.ts';
import { requireInput } from './session-config.ts';
import type { ServerEvent } from './server-events.ts';
import type { TalkContext, TalkEffect, TalkState } from './talk-state.ts';

type ClientEvent = Schemas['RealtimeClientEvent'];
export type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>;

/** One step of a conversation. The methods throw `Refused` or a problem before they change anything. */
export class TalkItems {
  state: TalkState;
  readonly effects: TalkEffect[] = [];
  readonly context: TalkContext;

  constructor(state: TalkState, context: TalkContext) {
    this.state = state;
    this.context = context;
  }

  create({ item: given, previous_item_id: sent }: EventOf<'conversation.item.create'>): void {
    const item = readItem(given, '/item', this.newId('item'));
    const { conversation, openTurn, transcribing } = this.state;
    const isTranscribed = isPending(item) && transcribing.has(item.id); // its transcript would be that of the other one
    const isTaken = item.id === openTurn || isTranscribed || this.#isOpen(item.id);
    if (isTaken || findItem(conversation, item.id) !== undefined) {
      throw invalid('body', '/item/id', 'is the id of another item');
    }
    requireRoom(conversation, [item], 'item');
    const previous = sent === 'root' ? null : (sent ?? undefined);
    if (previous != null && !findItem(conversation, previous)) {
      throw invalid('body', '/previous_item_id', 'is not the id of an item');
    }
    const sound = isPending(item) && soundOf(given, '/item');
    if (sound) requireInput(this.context.config);
    this.add(item, previous);
    this.finish(item);
    if (!sound) return;
    this.awaitTranscript(item.id);
    this.effects.push({ type: 'transcribe', item: item.id, sound });
  }

  /** Adds an item, and announces it. */
  add(item: Item, previous?: string | null): void {
    this.set({ conversation: insert(this.state.conversation, item, previous) });
    this.#sendItem('conversation.item.added', item);
  }

  retrieve({ item_id: id }: EventOf<'conversation.item.retrieve'>): void {
    const item = this.#find(id, 'retrieve');
    this.send({ type: 'conversation.item.retrieved', item: toWire(item) });
  }

  delete({ item_id: id }: EventOf<'conversation.item.delete'>): void {
    this.#find(id, 'delete');
    this.set({ conversation: remove(this.state.conversation, id) });
    this.send({ type: 'conversation.item.deleted', item_id: id });
  }

  truncate({ item_id: id, content_index: index, audio_end_ms: ms }: EventOf<'conversation.item.truncate'>): void {
    const item = this.#find(id, 'truncate');
    const part = spokenPart(item);
    if (item.type !== 'message' || !part || (index ?? 0) !== 0) throw noItem('truncate', 'has no audio there');
    const heard = truncate(part.heard, Math.floor(ms ?? 0), Math.floor(sentMs(part)));
    this.#change(withHeard(item, heard));
    if (this.state.spoken?.id === id) this.set({ playing: notPlaying, spoken: undefined });
    const audio_end_ms = heard.ms;
    this.send({ type: 'conversation.item.truncated', item_id: id, content_index: 0, audio_end_ms });
  }

  /** Whether the message is being written; it may have been deleted. */
  #isOpen(id: string): boolean {
    return this.state.active?.response.open?.id === id;
  }

  #find(id: string, what: 'retrieve' | 'delete' | 'truncate'): Item {
    const { conversation, active } = this.state;
    const item = findItem(conversation, id);
    if (!item) throw noItem(what, 'is not the id of an item');
    return (this.#isOpen(id) ? active?.response.open : undefined) ?? item;
  }

  #change(item: MessageItem): void {
    const { conversation, active } = this.state;
    if (!active || !this.#isOpen(item.id)) return this.set({ conversation: replace(conversation, item) });
    this.set({ active: { ...active, response: { ...active.response, open: item } } });
  }

  /** An item that the client has deleted is gone. */
  finish(item: Item): void {
    const { conversation } = this.state;
    if (!findItem(conversation, item.id)) return;
    this.set({ conversation: replace(conversation, item) });
    this.#sendItem('conversation.item.done', item);
  }

  protected awaitTranscript(id: string): void {
    const { config } = this.context;
    const isSent = config.type === 'transcription' || config.isTranscriptSent;
    this.set({ transcribing: new Map([...this.state.transcribing, [id, isSent]]) });
  }

  protected set(change: Partial<TalkState>): void {
    this.state = { ...this.state, ...change };
  }

  protected send(event: ServerEvent): void {
    this.effects.push({ type: 'send', event });
  }

  #sendItem(type: 'conversation.item.added' | 'conversation.item.done', item: Item): void {
    const previous_item_id = previousOf(this.state.conversation, item.id);
    this.send({ type, previous_item_id, item: toWire(item) });
  }

  protected newId(kind: 'item' | 'resp' | 'call'): string {
    this.set({ ids: this.state.ids + 1 });
    const id = `${kind}_${this.context.session}_${String(this.state.ids)}`;
    return findItem(this.state.conversation, id) ? this.newId(kind) : id;
  }
}

function noItem(what: 'retrieve' | 'delete' | 'truncate', rule: string): Refused {
  return new Refused(`item_${what}_invalid_item_id`, `item_id ${rule}`, 'item_id');
}

/** One response: turns the parts of an answer into items and events. Pure. */
import type { ToolCall, Usage } from '../../../engines/contract/index.ts';
import type { AnswerPart } from '../../realtime/answer.ts';
import { interrupt, type SpokenPiece } from '../../realtime/heard.ts';
import type { Schemas } from '../operations.ts';
import { textOf, transcriptOf, withHeard, type Content, type Item, type MessageItem } from './conversation.ts';
import type { ErrorDetails } from './errors.ts';
import { orEmptyObject, toWire } from './items.ts';
import type { ServerEvent } from './server-events.ts';

/** The fields of a response that do not change. */
export type ResponseFacts = Pick<
  Schemas['RealtimeResponse'],
  'id' | 'conversation_id' | 'output_modalities' | 'max_output_tokens' | 'audio' | 'metadata'
>;

export interface Response {
  readonly facts: ResponseFacts;
  /** The items that are complete. */
  readonly output: readonly Item[];
  /** The message that is being written. */
  readonly open: MessageItem | undefined;
}

/** The service sends sound as base64. */
export type ResponsePart =
  | Exclude<AnswerPart, { type: 'sound' | 'end' }>
  | { readonly type: 'sound'; readonly audio: string; readonly ms: number; readonly db: number };

export type ResponseEffect =
  | { readonly type: 'send'; readonly event: ServerEvent }
  /** The item belongs into the conversation, unless the response is not part of it. */
  | { readonly type: 'added' | 'done'; readonly item: Item };

export type ResponseEnd = { readonly usage: Usage | null } & (
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  /** `playedMs` is how much of the open message can have been played. */
  | { readonly status: 'cancelled'; readonly reason: 'turn_detected' | 'client_cancelled'; readonly playedMs: number }
  | { readonly status: 'failed'; readonly error: ErrorDetails }
);

/** The last one is `answered` or `broken`. After an abort, there are no more. */
export type ResponseEvent =
  | { readonly type: 'part'; readonly part: ResponsePart }
  | { readonly type: 'answered'; readonly end: ResponseEnd }
  | { readonly type: 'broken'; readonly error: unknown };

/** Returns the end of a response whose answer is complete. */
export function endOf({ finishReason, usage }: Extract<AnswerPart, { type: 'end' }>): ResponseEnd {
  if (finishReason === 'length') return { status: 'incomplete', reason: 'max_output_tokens', usage };
  if (finishReason === 'content_filter') return { status: 'incomplete', reason: finishReason, usage };
  return { status: 'completed', usage };
}

interface Step {
  readonly response: Response;
  readonly effects: readonly ResponseEffect[];
}

export function beginResponse(facts: ResponseFacts): Step {
  const draft = new Draft({ facts, output: [], open: undefined });
  const created = { ...facts, object: 'realtime.response', status: 'in_progress', status_details: null } as const;
  draft.send({ type: 'response.created', response: { ...created, output: [], usage: null } });
  return draft;
}

/** Each new item gets an id of `newId`. */
export function addPart(response: Response, part: ResponsePart, newId: () => string): Step {
  const draft = new Draft(response);
  if (part.type !== 'calls') draft.write(part, newId);
  else {
    draft.closeMessage('completed');
    for (const call of part.calls) draft.addCall(call, newId());
  }
  return draft;
}

/** Closes what was announced, and ends the response. */
export function endResponse(response: Response, end: ResponseEnd): readonly ResponseEffect[] {
  const draft = new Draft(response);
  const status = end.status === 'completed' ? 'completed' : 'incomplete';
  draft.closeMessage(status, end.status === 'cancelled' ? end.playedMs : undefined);
  const done: Schemas['RealtimeResponse'] = {
    ...{ ...response.facts, object: 'realtime.response', status: end.status, status_details: detailsOf(end) },
    ...{ output: draft.response.output.map(toWire), usage: toUsage(end.usage) },
  };
  draft.send({ type: 'response.done', response: done });
  return draft.effects;
}

type WrittenPart = Exclude<ResponsePart, { type: 'calls' }>;

class Draft implements Step {
  response: Response;
  readonly effects: ResponseEffect[] = [];

  constructor(response: Response) {
    this.response = response;
  }

  write(part: WrittenPart, newId: () => string): void {
    const open = this.response.open ?? this.#beginMessage(part, newId());
    const [content = emptyContent(part)] = open.content;
    const place = this.#contentPlace(open);
    if (part.type === 'text') this.send({ type: 'response.output_text.delta', ...place, delta: part.text });
    if (part.type === 'piece')
      this.send({ type: 'response.output_audio_transcript.delta', ...place, delta: part.text });
    if (part.type === 'sound') this.send({ type: 'response.output_audio.delta', ...place, delta: part.audio });
    this.response = { ...this.response, open: { ...open, content: [extend(content, part)] } };
  }

  #beginMessage(part: WrittenPart, id: string): MessageItem {
    const open: MessageItem = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    this.#announce(open);
    const content = emptyContent(part);
    this.send({ type: 'response.content_part.added', ...this.#contentPlace(open), part: toPart(content) });
    return { ...open, content: [content] };
  }

  /** Closes the open message. An interrupted one has the text that was heard, but its events have what was sent. */
  closeMessage(status: MessageItem['status'], playedMs?: number): void {
    const { open } = this.response;
    const [content] = open?.content ?? [];
    if (!open || !content) return;
    const place = this.#contentPlace(open);
    const part = toPart(content);
    if (content.type === 'output_audio') {
      this.send({ type: 'response.output_audio.done', ...place });
      this.send({ type: 'response.output_audio_transcript.done', ...place, transcript: part.transcript ?? '' });
    } else this.send({ type: 'response.output_text.done', ...place, text: part.text ?? '' });
    this.send({ type: 'response.content_part.done', ...place, part });
    const isCut = playedMs !== undefined && content.type === 'output_audio';
    const heard = isCut ? withHeard(open, interrupt(content.heard, playedMs)) : open;
    this.#finish({ ...heard, status });
    this.response = { ...this.response, open: undefined };
  }

  /** The AI SDK needs a delta with the `call_id`, and starts the tool when the item is done. */
  addCall({ id: call_id, name, arguments: sent }: ToolCall, id: string): void {
    const json = orEmptyObject(sent);
    const item = { id, type: 'function_call', status: 'completed', callId: call_id, name, arguments: json } as const;
    const place = { ...this.#place, item_id: id, call_id };
    this.#announce({ ...item, status: 'in_progress', arguments: '' });
    this.send({ type: 'response.function_call_arguments.delta', ...place, delta: json });
    this.send({ type: 'response.function_call_arguments.done', ...place, name, arguments: json });
    this.#finish(item);
  }

  #announce(item: Item): void {
    this.send({ type: 'response.output_item.added', ...this.#place, item: toWire(item) });
    this.effects.push({ type: 'added', item });
  }

  #finish(item: Item): void {
    this.send({ type: 'response.output_item.done', ...this.#place, item: toWire(item) });
    this.effects.push({ type: 'done', item });
    this.response = { ...this.response, output: [...this.response.output, item] };
  }

  get #place() {
    return { response_id: this.response.facts.id, output_index: this.response.output.length };
  }

  #contentPlace({ id }: Item) {
    return { ...this.#place, item_id: id, content_index: 0 } as const;
  }

  send(event: ServerEvent): void {
    this.effects.push({ type: 'send', event });
  }
}

const emptyContent = ({ type }: WrittenPart): Content =>
  type === 'text' ? { type: 'output_text', text: '' } : { type: 'output_audio', pieces: [] };

function extend(content: Content, part: WrittenPart): Content {
  if (content.type === 'output_text' && part.type === 'text') return { ...content, text: content.text + part.text };
  if (content.type !== 'output_audio') return content;
  const { pieces } = content;
  if (part.type === 'piece') return { ...content, pieces: [...pieces, { text: part.text, ms: 0, isWhole: false }] };
  const last = pieces.at(-1);
  if (!last) return content;
  const changed: SpokenPiece =
    part.type === 'sound' ? { ...last, ms: last.ms + part.ms } : { ...last, isWhole: part.type === 'spoken' };
  return { ...content, pieces: pieces.with(-1, changed) };
}

function toPart(content: Content): Schemas['RealtimePart'] {
  if (content.type === 'output_audio') return { type: 'audio', transcript: transcriptOf(content) };
  return { type: 'text', text: textOf(content) };
}

function detailsOf(end: ResponseEnd): Schemas['RealtimeResponse']['status_details'] {
  switch (end.status) {
    case 'completed':
      return null;
    case 'failed': {
      const { type, code, message } = end.error;
      return { type: end.status, error: { type, code, message } };
    }
    default:
      return { type: end.status, reason: end.reason };
  }
}

/** pipecat fails without these numbers. */
function toUsage(usage: Usage | null): Schemas['RealtimeResponseUsage'] {
  const { promptTokens: input = 0, completionTokens: output = 0, totalTokens: total = 0 } = usage ?? {};
  return {
    ...{ total_tokens: total, input_tokens: input, output_tokens: output },
    input_token_details: { text_tokens: input, audio_tokens: 0, cached_tokens: 0 },
    output_token_details: { text_tokens: output, audio_tokens: 0 },
  };
}

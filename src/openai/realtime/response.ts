/** One response: turns the parts of an answer into items and events. Pure. */
import type { Usage } from '../../../engines/contract/index.ts';
import type { AnswerPart } from '../../realtime/answer.ts';
import { interrupt, type SpokenPiece } from '../../realtime/heard.ts';
import type { Schemas } from '../operations.ts';
import {
  spokenPart,
  textOf,
  transcriptOf,
  withHeard,
  type CallItem,
  type Content,
  type Item,
  type MessageItem,
} from './conversation.ts';
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

const send = (event: ServerEvent): ResponseEffect => ({ type: 'send', event });

export function beginResponse(facts: ResponseFacts): Step {
  const response: Response = { facts, output: [], open: undefined };
  const created = { ...facts, object: 'realtime.response', status: 'in_progress', status_details: null } as const;
  return { response, effects: [send({ type: 'response.created', response: { ...created, output: [], usage: null } })] };
}

/** Each new item gets an id of `newId`. */
export function addPart(response: Response, part: ResponsePart, newId: () => string): Step {
  switch (part.type) {
    case 'text':
    case 'piece':
    case 'sound':
    case 'spoken':
      return write(response, part, newId);
    case 'calls': {
      const closed = closeMessage(response, 'completed');
      return part.calls.reduce<Step>(({ response: before, effects }, { id, name, arguments: json }) => {
        const item = { id: newId(), type: 'function_call', status: 'completed', callId: id, name } as const;
        const step = addCall(before, { ...item, arguments: orEmptyObject(json) });
        return { response: step.response, effects: [...effects, ...step.effects] };
      }, closed);
    }
  }
}

// -------------------------------------------------------------------------------------------------------- messages

type WrittenPart = Extract<ResponsePart, { type: 'text' | 'piece' | 'sound' | 'spoken' }>;

function write(response: Response, part: WrittenPart, newId: () => string): Step {
  const begun = response.open ? { open: response.open, effects: [] } : beginMessage(response, part, newId());
  const place = placeOf(response, begun.open);
  const content = begun.open.content[0] ?? emptyContent(part);
  const effects = [...begun.effects, ...deltasOf(part, place)];
  return { response: { ...response, open: { ...begun.open, content: [extend(content, part)] } }, effects };
}

function beginMessage(response: Response, part: WrittenPart, id: string) {
  const open: MessageItem = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
  const added = announce(response, open);
  const content = emptyContent(part);
  const begun = send({
    type: 'response.content_part.added',
    ...placeOf(response, open),
    part: toPart(content),
  });
  return { open: { ...open, content: [content] }, effects: [...added, begun] };
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

function deltasOf(part: WrittenPart, place: Place): readonly ResponseEffect[] {
  switch (part.type) {
    case 'text':
      return [send({ type: 'response.output_text.delta', ...place, delta: part.text })];
    case 'piece':
      return [send({ type: 'response.output_audio_transcript.delta', ...place, delta: part.text })];
    case 'sound':
      return [send({ type: 'response.output_audio.delta', ...place, delta: part.audio })];
    case 'spoken':
      return [];
  }
}

/** Closes the open message. An interrupted one has the text that was heard, but its events have what was sent. */
function closeMessage(response: Response, status: MessageItem['status'], playedMs?: number): Step {
  const { open } = response;
  const [content] = open?.content ?? [];
  if (!open || !content) return { response, effects: [] };
  const place = placeOf(response, open);
  const part = toPart(content);
  const texts: readonly ServerEvent[] =
    content.type === 'output_audio'
      ? [
          { type: 'response.output_audio.done', ...place },
          { type: 'response.output_audio_transcript.done', ...place, transcript: part.transcript ?? '' },
        ]
      : [{ type: 'response.output_text.done', ...place, text: part.text ?? '' }];
  const spoken = spokenPart(open);
  const heard = playedMs !== undefined && spoken ? withHeard(open, interrupt(spoken.heard, playedMs)) : open;
  const done = finish({ ...response, open: undefined }, { ...heard, status });
  const closings = [...texts, { type: 'response.content_part.done', ...place, part } as const].map(send);
  return { response: done.response, effects: [...closings, ...done.effects] };
}

function toPart(content: Content): Schemas['RealtimePart'] {
  if (content.type === 'output_audio') return { type: 'audio', transcript: transcriptOf(content) };
  return { type: 'text', text: textOf(content) };
}

// ----------------------------------------------------------------------------------------------------------- calls

/** The AI SDK needs a delta with the `call_id`, and starts the tool when the item is done. */
function addCall(response: Response, item: CallItem): Step {
  const { id, callId: call_id, name, arguments: json } = item;
  const place = { response_id: response.facts.id, output_index: response.output.length, item_id: id, call_id };
  const done = finish(response, item);
  return {
    response: done.response,
    effects: [
      ...announce(response, { ...item, status: 'in_progress', arguments: '' }),
      send({ type: 'response.function_call_arguments.delta', ...place, delta: json }),
      send({ type: 'response.function_call_arguments.done', ...place, name, arguments: json }),
      ...done.effects,
    ],
  };
}

// ----------------------------------------------------------------------------------------------------- both, the end

type Place = ReturnType<typeof placeOf>;

const placeOf = ({ facts, output }: Response, { id }: Item) =>
  ({ response_id: facts.id, output_index: output.length, item_id: id, content_index: 0 }) as const;

function announce({ facts, output }: Response, item: Item): readonly ResponseEffect[] {
  const place = { response_id: facts.id, output_index: output.length };
  return [send({ type: 'response.output_item.added', ...place, item: toWire(item) }), { type: 'added', item }];
}

function finish(response: Response, item: Item): Step {
  const { facts, output } = response;
  const place = { response_id: facts.id, output_index: output.length };
  const effects: readonly ResponseEffect[] = [
    send({ type: 'response.output_item.done', ...place, item: toWire(item) }),
    { type: 'done', item },
  ];
  return { response: { ...response, output: [...output, item] }, effects };
}

/** Closes what was announced, and ends the response. */
export function endResponse(response: Response, end: ResponseEnd): readonly ResponseEffect[] {
  const status = end.status === 'completed' ? 'completed' : 'incomplete';
  const closed = closeMessage(response, status, end.status === 'cancelled' ? end.playedMs : undefined);
  const done: Schemas['RealtimeResponse'] = {
    ...{ ...response.facts, object: 'realtime.response', status: end.status, status_details: detailsOf(end) },
    ...{ output: closed.response.output.map(toWire), usage: toUsage(end.usage) },
  };
  return [...closed.effects, send({ type: 'response.done', response: done })];
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

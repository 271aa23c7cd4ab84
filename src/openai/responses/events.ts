/** The events of a streamed response. */
import { randomUUID } from 'node:crypto';
import type { ChatResult, ToolCall } from '../../../engines/contract/index.ts';
import type { KeptItem } from '../../chat/item-store.ts';
import type { RunFormat } from '../../chat/run.ts';
import { createStepJoin } from '../../chat/step-join.ts';
import type { Schemas } from '../operations.ts';
import {
  beginResponse,
  incompleteDetails,
  toError,
  toUsage,
  type OutputItem,
  type ResponseFacts,
  type ResponseObject,
} from './answer.ts';
import type { CalledTool } from './tools.ts';

export type ResponseEvent = Schemas['ResponseEvent'];

/** An event without its sequence number. */
type Unnumbered<Event = ResponseEvent> = Event extends ResponseEvent ? Omit<Event, 'sequence_number'> : never;

export interface ResponseFormat extends RunFormat<ResponseEvent> {
  /** Returns the last event of a failed stream, with the output so far. */
  failed(error: Schemas['ErrorDetails']): ResponseEvent;
}

export interface FormatOptions {
  /** Returns the tool of a call under the caller's name for it, which may include a namespace. */
  readonly calledAs: (call: ToolCall) => CalledTool;
  /** Called with each output item to which later requests may refer. */
  readonly keep: (id: string, item: KeptItem) => void;
}

/**
 * A response has at most one reasoning item, at most one message, and any number of calls. Each text ends before the
 * next item begins.
 */
export function createResponseEvents(facts: ResponseFacts, { calledAs, keep }: FormatOptions): ResponseFormat {
  const joinContent = createStepJoin();
  const joinReasoning = createStepJoin();
  const response = beginResponse(facts);
  const output: OutputItem[] = [];
  let open: OpenItem | undefined;
  let hasMessage = false;
  let count = 0;

  function numbered(event: Unnumbered): ResponseEvent {
    return { ...event, sequence_number: count++ };
  }

  function begin(kind: TextKind): OpenItem {
    return (open = { id: newId(kind.prefix), index: output.length, kind, text: '' });
  }

  function close(status: Schemas['ItemStatus'] = 'completed'): readonly Unnumbered[] {
    if (!open) return [];
    const { kind, id, text } = open;
    const item = kind.item(open, status);
    const done = kind.done(open, item);
    if (kind === message) keep(id, { type: 'message', text });
    output.push(item);
    open = undefined;
    return done;
  }

  function add(kind: TextKind, delta: string): readonly Unnumbered[] {
    if (open?.kind === kind) {
      open.text += delta;
      return [kind.delta(open, delta)];
    }
    const closed = close();
    const item = begin(kind);
    item.text = delta;
    return [...closed, ...kind.added(item), kind.delta(item, delta)];
  }

  function addCall(call: ToolCall): readonly Unnumbered[] {
    const id = newId('fc');
    const position = { output_index: output.length, item_id: id };
    const { id: call_id, arguments: json } = call;
    const item = { id, type: 'function_call' as const, call_id, ...calledAs(call) };
    const done = { ...item, status: 'completed' as const, arguments: json };
    keep(id, { type: 'function_call', call });
    output.push(done);
    return [
      {
        type: 'response.output_item.added',
        output_index: position.output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', ...position, delta: json },
      { type: 'response.function_call_arguments.done', ...position, name: item.name, arguments: json },
      { type: 'response.output_item.done', output_index: position.output_index, item: done },
    ];
  }

  function complete({ finishReason, toolCalls = [], usage }: ChatResult): readonly Unnumbered[] {
    const incomplete_details = incompleteDetails(finishReason);
    const status = incomplete_details ? 'incomplete' : 'completed';
    // Adds an empty message, because clients treat an empty output as a missing answer.
    const empty = hasMessage || toolCalls.length > 0 ? [] : [...close(), ...message.added(begin(message))];
    const items = [...empty, ...close(status), ...toolCalls.flatMap(addCall)];
    const ended: ResponseObject = { ...response, status, incomplete_details, output, usage: toUsage(usage) };
    return [
      ...items,
      incomplete_details
        ? { type: 'response.incomplete', response: ended }
        : { type: 'response.completed', response: { ...ended, completed_at: Math.floor(Date.now() / 1000) } },
    ];
  }

  return {
    start: () => [
      numbered({ type: 'response.created', response }),
      numbered({ type: 'response.in_progress', response }),
    ],
    toEvents(event) {
      switch (event.type) {
        case 'content-delta':
          if (event.delta === '') return [];
          hasMessage = true;
          return add(message, joinContent(event)).map(numbered);
        case 'reasoning-delta':
          // Reasoning is dropped once the text has begun, because it would become an item after the message.
          return event.delta === '' || hasMessage ? [] : add(reasoning, joinReasoning(event)).map(numbered);
        case 'completed':
          return complete(event.result).map(numbered);
        default:
          return []; // the server's own tools are not shown
      }
    },
    failed(error) {
      const begun = open ? [open.kind.item(open, 'incomplete')] : [];
      const ended = { error: toError(error), output: [...output, ...begun], usage: toUsage(null) };
      return numbered({ type: 'response.failed', response: { ...response, status: 'failed', ...ended } });
    },
  };
}

/**
 * Returns an id in OpenAI's format: a prefix and 32 hexadecimal digits. It must be unguessable, because in open mode it
 * grants access to the item. randomUUID() caches random bytes; randomBytes() took 5 % of a response's CPU time.
 */
function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`;
}

// --------------------------------------------------------------------------------------------------------- texts

/** An item whose text is being written. */
interface OpenItem {
  readonly id: string;
  readonly index: number;
  readonly kind: TextKind;
  text: string;
}

interface TextKind {
  readonly prefix: string;
  /** Returns the item with its text so far. */
  item(open: OpenItem, status: Schemas['ItemStatus']): OutputItem;
  added(open: OpenItem): readonly Unnumbered[];
  delta(open: OpenItem, delta: string): Unnumbered;
  done(open: OpenItem, item: OutputItem): readonly Unnumbered[];
}

const positionOf = ({ id, index }: OpenItem) => ({ item_id: id, output_index: index });

const summaryOf = (text: string) => ({ type: 'summary_text' as const, text });

/** Reasoning is sent as a summary, because some clients show only summaries. */
const reasoning: TextKind = {
  prefix: 'rs',
  item: ({ id, text }, status) => ({
    ...{ id, type: 'reasoning', status },
    ...{ summary: [summaryOf(text)], encrypted_content: null },
  }),
  added(open) {
    const { id, index } = open;
    const item = { id, type: 'reasoning', status: 'in_progress', summary: [], encrypted_content: null } as const;
    const position = { ...positionOf(open), summary_index: 0 } as const;
    return [
      { type: 'response.output_item.added', output_index: index, item: { ...item, summary: [] } },
      { type: 'response.reasoning_summary_part.added', ...position, part: summaryOf('') },
    ];
  },
  delta: (open, delta) => ({
    type: 'response.reasoning_summary_text.delta',
    ...positionOf(open),
    summary_index: 0,
    delta,
  }),
  done(open, item) {
    const { text, index } = open;
    const position = { ...positionOf(open), summary_index: 0 } as const;
    return [
      { type: 'response.reasoning_summary_text.done', ...position, text },
      { type: 'response.reasoning_summary_part.done', ...position, part: summaryOf(text) },
      { type: 'response.output_item.done', output_index: index, item },
    ];
  },
};

const textPart = (text: string) => ({ type: 'output_text' as const, text, annotations: [], logprobs: [] });

const message: TextKind = {
  prefix: 'msg',
  item: ({ id, text }, status) => ({ id, type: 'message', status, role: 'assistant', content: [textPart(text)] }),
  added(open) {
    const { id, index } = open;
    const position = { ...positionOf(open), content_index: 0 } as const;
    return [
      {
        type: 'response.output_item.added',
        output_index: index,
        item: { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      },
      { type: 'response.content_part.added', ...position, part: textPart('') },
    ];
  },
  delta: (open, delta) => ({
    type: 'response.output_text.delta',
    ...positionOf(open),
    content_index: 0,
    delta,
    logprobs: [],
  }),
  done(open, item) {
    const { text, index } = open;
    const position = { ...positionOf(open), content_index: 0 } as const;
    return [
      { type: 'response.output_text.done', ...position, text, logprobs: [] },
      { type: 'response.content_part.done', ...position, part: textPart(text) },
      { type: 'response.output_item.done', output_index: index, item },
    ];
  },
};

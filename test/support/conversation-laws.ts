/** The laws of the items and responses of a conversation: what every client may rely on, whatever it has sent. */
import { isDeepStrictEqual } from 'node:util';
import type { WireEvent, WireItem, WireResponse } from './realtime-laws.ts';

/** The counterpart of an item whose text comes in deltas. */
interface Output {
  readonly index: number;
  isDone: boolean;
  deltas: Record<string, string>;
  item?: WireItem | undefined;
}

interface OpenResponse {
  readonly isInConversation: boolean;
  readonly outputs: Map<string, Output>;
  isInterrupted: boolean;
}

/** The deltas of each kind concatenate to a field of the event that ends them. */
const wholes: Readonly<Record<string, 'text' | 'transcript' | 'arguments'>> = {
  'response.output_text': 'text',
  'response.output_audio_transcript': 'transcript',
  'response.function_call_arguments': 'arguments',
};

const maxBeside = 4;

/** Returns the violations. `isWhole`: the client stayed until every response had ended. */
export function conversationBreaches(events: readonly WireEvent[], isWhole: boolean): string[] {
  const breaches: string[] = [];
  const order: string[] = [];
  const done = new Set<string>();
  const known = new Set<string>();
  const open = new Map<string, OpenResponse>();
  const ended = new Set<string>();
  let interrupts = true;

  for (const event of events) {
    const { type, item, item_id: id = item?.id ?? '', response, response_id: responseId } = event;
    const must = (holds: boolean, law: string) => {
      if (!holds) breaches.push(`${law}: ${type} (${String(event.event_id)})`);
    };
    const before = (of: string) => order[order.indexOf(of) - 1] ?? null;
    switch (type) {
      case 'session.created':
      case 'session.updated':
        interrupts = isInterrupting(event.session?.audio.input.turn_detection);
        break;
      case 'input_audio_buffer.speech_started':
        for (const one of open.values()) if (interrupts && one.isInConversation) one.isInterrupted = true;
        break;
      case 'input_audio_buffer.committed':
        must(event.previous_item_id === (order.at(-1) ?? null), 'a turn follows the last item');
        break;
      case 'conversation.item.added': {
        const { previous_item_id: previous } = event;
        must(!order.includes(id), 'an item is added once');
        must(previous === null || order.includes(previous ?? ''), 'an item follows an item of the conversation');
        order.splice(previous == null ? 0 : order.indexOf(previous) + 1, 0, id);
        known.add(id);
        done.delete(id);
        break;
      }
      case 'conversation.item.done':
        must(order.includes(id) && !done.has(id), 'an item is done once, and in the conversation');
        must(event.previous_item_id === before(id), 'an item is done at its place');
        done.add(id);
        break;
      case 'conversation.item.deleted':
        must(order.includes(id), 'an item of the conversation is deleted');
        order.splice(order.indexOf(id), 1);
        break;
      case 'conversation.item.retrieved':
      case 'conversation.item.truncated':
        must(order.includes(id), 'the item is in the conversation');
        break;
      case 'response.created': {
        const isInConversation = response?.conversation_id != null;
        const alike = [...open.values()].filter((one) => one.isInConversation === isInConversation).length;
        must(alike < (isInConversation ? 1 : maxBeside), 'one response writes to the conversation, four beside it');
        must(!open.has(response!.id) && !ended.has(response!.id), 'a response begins once');
        must(isEmpty(response!), 'a response begins empty');
        open.set(response!.id, { isInConversation, outputs: new Map(), isInterrupted: false });
        break;
      }
      case 'response.done': {
        const one = open.get(response!.id);
        must(one !== undefined, 'a response ends once, after its beginning');
        const outputs = [...(one?.outputs.values() ?? [])];
        must(outputs.every(({ isDone }) => isDone), 'what was announced is closed'); // prettier-ignore
        must(isDeepStrictEqual(outputs.map((output) => output.item), response!.output), 'the output has the items'); // prettier-ignore
        must((response!.status === 'completed') === (response!.status_details === null), 'details unless completed');
        must(response!.usage !== null, 'a response has its usage');
        open.delete(response!.id);
        ended.add(response!.id);
        break;
      }
      default:
    }
    if (responseId === undefined) continue;
    const one = open.get(responseId);
    must(one !== undefined, 'every event of a response lies between its beginning and its end');
    if (!one) continue;
    if (one.isInterrupted) must(!type.endsWith('.delta'), 'nothing follows the interruption but closings');
    followOutput(event, one, id, must);
  }
  if (isWhole) for (const id of open.keys()) breaches.push(`every response ends: ${id}`);
  return breaches;
}

const isInterrupting = (detection: object | null | undefined): boolean =>
  (detection as { readonly interrupt_response?: boolean } | null | undefined)?.interrupt_response === true;

const isEmpty = ({ status, output, usage, status_details: details }: WireResponse): boolean =>
  status === 'in_progress' && output.length === 0 && usage === null && details === null;

function followOutput(
  event: WireEvent,
  { outputs }: OpenResponse,
  id: string,
  must: (holds: boolean, law: string) => void,
): void {
  const { type, output_index: index, item } = event;
  const output = outputs.get(id);
  if (type === 'response.output_item.added') {
    must(output === undefined && index === outputs.size, 'items begin once, in order');
    must([...outputs.values()].every(({ isDone }) => isDone), 'an item begins after the end of the one before'); // prettier-ignore
    must(item?.status === 'in_progress', 'an item begins in progress');
    outputs.set(id, { index: index ?? -1, isDone: false, deltas: {} });
    return;
  }
  must(output !== undefined && !output.isDone && output.index === index, 'an event belongs to the item in progress');
  if (!output) return;
  const dot = type.lastIndexOf('.');
  const [kind, end] = [type.slice(0, dot), type.slice(dot + 1)];
  if (end === 'delta') output.deltas[kind] = (output.deltas[kind] ?? '') + (event.delta ?? '');
  const whole = wholes[kind];
  if (end === 'done' && whole) must((output.deltas[kind] ?? '') === event[whole], 'deltas concatenate to the whole');
  if (type !== 'response.output_item.done') return;
  must(item?.status !== 'in_progress', 'an item ends completed or incomplete');
  output.isDone = true;
  output.item = item;
}

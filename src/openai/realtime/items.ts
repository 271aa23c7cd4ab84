/** Converts items between their form in events and their form in the conversation. */
import type { Schemas } from '../operations.ts';
import { textOf, type Content, type Item } from './conversation.ts';
import { NamedError, UnsupportedValue } from '../errors.ts';
import { readSound } from './base64-sound.ts';

type Given = Schemas['RealtimeItemCreate'];
type Role = Schemas['RealtimeRole'];

/** Returns the item in the form that the client sees. An interrupted answer has the text that was heard. */
export function toWire(item: Item): Schemas['RealtimeItem'] {
  const { id, status, type } = item;
  const head = { id, object: 'realtime.item', type, status } as const;
  switch (item.type) {
    case 'message':
      return { ...head, role: item.role, content: item.content.map(toContent) };
    case 'function_call':
      return { ...head, call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'function_call_output':
      return { ...head, call_id: item.callId, output: item.output };
  }
}

function toContent(part: Content): Schemas['RealtimeContent'] {
  switch (part.type) {
    case 'input_audio': // the Agents SDK crashes if it lacks `transcript`
      return { type: part.type, transcript: part.transcript };
    case 'output_audio':
      return { type: part.type, transcript: textOf(part) };
    default:
      return part;
  }
}

/**
 * Reads an item of the client. `at` points to it in the event, and `newId` is the id if the item has none. Throws for an
 * item that is not supported.
 */
export function readItem(given: Given, at: string, newId: string): Item {
  const head = { id: given.id == null || given.id === '' ? newId : given.id, status: 'completed' } as const;
  const { call_id: callId, name, arguments: json, output } = given;
  switch (given.type) {
    case 'message':
      return readMessage(given, at, head);
    case 'function_call':
      if (name == null || name === '') throw missing(`${at}/name`);
      return { ...head, type: 'function_call', callId: callId ?? head.id, name, arguments: orEmptyObject(json ?? '') };
    case 'function_call_output':
      if (callId == null || callId === '') throw missing(`${at}/call_id`);
      return { ...head, type: 'function_call_output', callId, output: output ?? '' };
    default: {
      const rule = 'only message, function_call and function_call_output are supported';
      throw new UnsupportedValue(`${at}/type`, `is "${given.type}"; ${rule}`);
    }
  }
}

/** Returns the audio of an item that is pending. Throws if it cannot be read. */
export const soundOf = ({ content }: Given, at: string): Uint8Array =>
  readSound(content?.[0]?.audio, `${at}/content/0/audio`);

/** LiveKit cannot parse empty arguments. */
export const orEmptyObject = (json: string): string => (json.trim() === '' ? '{}' : json);

const missing = (pointer: string) =>
  new NamedError('invalid-request', 'missing_required_parameter', pointer, 'is missing');

function readMessage(given: Given, at: string, head: Pick<Item, 'id' | 'status'>): Item {
  const { role, content } = given;
  if (role == null) throw missing(`${at}/role`);
  if (content == null) throw missing(`${at}/content`);
  const parts = content.map((part, index) => readPart(part, role, `${at}/content/${String(index)}`));
  const hasSound = parts.some((part) => part.type === 'input_audio' && part.pending);
  if (hasSound && parts.length > 1)
    throw new UnsupportedValue(`${at}/content`, 'must have no other part besides audio');
  return { ...head, type: 'message', role, content: parts };
}

/** Clients send texts of the user and of the model under each other's types. */
const textTypes: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text']);

function readPart(part: Schemas['RealtimeContentCreate'], role: Role, at: string): Content {
  const { type, text, transcript, audio } = part;
  if (textTypes.has(type)) {
    if (text == null) throw missing(`${at}/text`);
    return { type: role === 'assistant' ? 'output_text' : 'input_text', text };
  }
  if (type === 'output_audio' && role === 'assistant') {
    if (transcript == null) throw missing(`${at}/transcript`);
    return { type, pieces: [{ text: transcript, ms: 0, isWhole: true }] };
  }
  if (type === 'input_audio' && role === 'user') {
    if (transcript != null) return { type, transcript };
    if (audio == null) throw missing(`${at}/audio`);
    return { type, transcript: null, pending: 'item' };
  }
  const hint = type === 'input_image' ? 'images are not supported' : `it is not supported for the role ${role}`;
  throw new UnsupportedValue(`${at}/type`, `is "${type}"; ${hint}`);
}

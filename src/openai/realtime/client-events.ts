/** Reads the events that a client sends. */
import { JsonStructure } from '../../../lib/json-structure.ts';
import { isObject, parseObject, type JsonObject } from '../../../lib/json.ts';
import { openaiContract } from '../../contract/document.ts';
import { eventCheckOf } from '../../contract/event-check.ts';
import { toViolations } from '../../contract/violations.ts';
import type { Schemas } from '../operations.ts';
import { readSound } from './base64-sound.ts';
import { failure, isExpected, Refused, type ErrorDetails } from './errors.ts';

type Sound = Schemas['RealtimeClientEventInputAudioBufferAppend'];

export type ClientEvent =
  | Exclude<Schemas['RealtimeClientEvent'] | Schemas['RealtimeTranscriptionClientEvent'], Sound>
  | { readonly type: 'input_audio_buffer.append'; readonly sound: Uint8Array };

export type SessionType = 'transcription' | 'realtime';

/** The schema of the events that a client may send in a session of the type. */
const unions = { transcription: 'RealtimeTranscriptionClientEvent', realtime: 'RealtimeClientEvent' } as const;

/** `eventId` is the `event_id` of the client's event. */
export type ReadEvent = { readonly eventId: string | null } & (
  | { readonly type: 'received'; readonly event: ClientEvent }
  | { readonly type: 'refused'; readonly error: ErrorDetails }
);

type Sent = JsonObject & { readonly type: string };

/** `text` is undefined for a binary message. */
export function readClientEvent(text: string | undefined, session: SessionType): ReadEvent {
  let eventId: string | null = null;
  try {
    const sent = parse(text);
    if (typeof sent.event_id === 'string' && sent.event_id.length <= maxEventId) eventId = sent.event_id;
    return { type: 'received', eventId, event: toEvent(sent, session) };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { type: 'refused', eventId, error: failure(error) };
  }
}

/** maxLength of `event_id` in the contract. */
const maxEventId = 512;

function parse(text = ''): Sent {
  const sent = isTooComplex(text) ? undefined : parseObject(text);
  if (typeof sent?.type === 'string') return sent as Sent;
  throw new Refused('invalid_event', 'Send JSON objects with a "type", each as one text message.');
}

/** Parsing 4 MB of brackets would block the event loop for more than a second. */
function isTooComplex(text: string): boolean {
  const { tokens, depth } = openaiContract.json.structure;
  const structure = new JsonStructure();
  structure.add(Buffer.from(text));
  return structure.deepest > depth || structure.tokens > tokens;
}

function toEvent(sent: Sent, session: SessionType): ClientEvent {
  // A fast path, because nearly all events contain audio and the contract's validator would be slower.
  if (sent.type === 'input_audio_buffer.append') return { type: sent.type, sound: readSound(sent.audio, '/audio') };
  const { types, errorsOf } = eventCheckOf(openaiContract, unions[session]);
  if (!types.includes(sent.type)) throw undeclared(sent.type, types, session);
  if (sent.type === 'session.update') requireNoBeta(sent.session);
  const errors = errorsOf(sent).map((error) => ({ ...error, instancePath: `/event${error.instancePath}` }));
  const [first] = toViolations(errors);
  if (!first) return sent as ClientEvent;
  const code = first.detail === 'is missing' ? 'missing_required_parameter' : 'invalid_value';
  const param = first.pointer.slice(1).replaceAll('/', '.');
  throw new Refused(code, `${param} ${first.detail}`, param);
}

function undeclared(type: string, types: readonly string[], session: SessionType): Error {
  if (session === 'transcription' && /^(response|conversation|output_audio_buffer)\./.test(type)) {
    return new Refused('unsupported_value', 'A transcription session has no responses and takes no items.', 'type');
  }
  if (type.startsWith('output_audio_buffer.')) {
    return new Refused('unsupported_value', `${type} belongs to WebRTC, which is not supported.`, 'type');
  }
  const isBeta = type === 'transcription_session.update';
  const hint = isBeta ? ' transcription_session.update belongs to the beta protocol: send session.update.' : '';
  return new Refused('invalid_value', `type must be one of ${types.join(', ')}.${hint}`, 'type');
}

/** Fields of the beta protocol, which OpenAI has discontinued. */
const ofBeta = /^(input_audio_(format|transcription|noise_reduction)|turn_detection|modalities)$/;

function requireNoBeta(session: unknown): void {
  if (!isObject(session) || 'type' in session) return;
  const name = Object.keys(session).find((field) => ofBeta.test(field));
  if (name === undefined) return;
  const field = name === 'modalities' ? 'output_modalities' : `audio.input.${name.replace('input_audio_', '')}`;
  const message = `session.${name} belongs to the beta protocol: send session.type and session.${field}.`;
  throw new Refused('unknown_parameter', message, `session.${name}`);
}

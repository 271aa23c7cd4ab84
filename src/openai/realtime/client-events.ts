/** Reads the events that a client sends. */
import { JsonStructure } from '../../../lib/json-structure.ts';
import { openaiContract } from '../../contract/document.ts';
import { eventCheckOf } from '../../contract/event-check.ts';
import { toViolations } from '../../contract/violations.ts';
import type { Schemas } from '../operations.ts';
import { readSound } from './base64-sound.ts';
import { refusal, Refused, type ErrorDetails } from './errors.ts';

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

interface Sent {
  readonly type: string;
  readonly event_id?: unknown;
  readonly audio?: unknown;
  readonly session?: unknown;
}

/** `text` is undefined for a binary message. */
export function readClientEvent(text: string | undefined, session: SessionType): ReadEvent {
  const sent = parse(text);
  if (!sent) {
    const error = refusal('invalid_event', 'Send JSON objects with a "type", each as one text message.');
    return { type: 'refused', eventId: null, error };
  }
  const eventId = typeof sent.event_id === 'string' && sent.event_id.length <= maxEventId ? sent.event_id : null;
  const isSound = sent.type === 'input_audio_buffer.append';
  const read = isSound ? readAppend(sent.audio) : (violationOf(sent, session) ?? { event: sent as ClientEvent });
  if ('event' in read) return { type: 'received', eventId, event: read.event };
  return { type: 'refused', eventId, error: read };
}

/** maxLength of `event_id` in the contract. */
const maxEventId = 512;

function parse(text = ''): Sent | undefined {
  if (isTooComplex(text)) return undefined;
  try {
    const value = JSON.parse(text) as Sent | null;
    return typeof value?.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Parsing 4 MB of brackets would block the event loop for more than a second. */
function isTooComplex(text: string): boolean {
  const { tokens, depth } = openaiContract.json.structure;
  const structure = new JsonStructure();
  structure.add(Buffer.from(text));
  return structure.deepest > depth || structure.tokens > tokens;
}

/** A fast path, because nearly all events contain audio and the contract's validator would be slower. */
function readAppend(audio: unknown): { readonly event: ClientEvent } | ErrorDetails {
  try {
    return { event: { type: 'input_audio_buffer.append', sound: readSound(audio, 'audio') } };
  } catch (error) {
    if (error instanceof Refused) return error.details;
    throw error;
  }
}

function violationOf(event: Sent, session: SessionType): ErrorDetails | undefined {
  const { types, errorsOf } = eventCheckOf(openaiContract, unions[session]);
  if (!types.includes(event.type)) return undeclared(event.type, types, session);
  const beta = event.type === 'session.update' ? betaField(event.session) : undefined;
  if (beta) return beta;
  const errors = errorsOf(event).map((error) => ({ ...error, instancePath: `/event${error.instancePath}` }));
  const [first] = toViolations(errors);
  if (!first) return undefined;
  const code = first.detail === 'is missing' ? 'missing_required_parameter' : 'invalid_value';
  const param = first.pointer.slice(1).replaceAll('/', '.');
  return refusal(code, `${param} ${first.detail}`, param);
}

function undeclared(type: string, types: readonly string[], session: SessionType): ErrorDetails {
  if (session === 'transcription' && /^(response|conversation|output_audio_buffer)\./.test(type)) {
    return refusal('unsupported_value', 'A transcription session has no responses and takes no items.', 'type');
  }
  if (type.startsWith('output_audio_buffer.')) {
    return refusal('unsupported_value', `${type} belongs to WebRTC, which is not supported.`, 'type');
  }
  const isBeta = type === 'transcription_session.update';
  const hint = isBeta ? ' transcription_session.update belongs to the beta protocol: send session.update.' : '';
  return refusal('invalid_value', `type must be one of ${types.join(', ')}.${hint}`, 'type');
}

/** Fields of the beta protocol, which OpenAI has discontinued. */
const ofBeta = /^(input_audio_(format|transcription|noise_reduction)|turn_detection|modalities)$/;

function betaField(session: unknown): ErrorDetails | undefined {
  if (typeof session !== 'object' || session === null || 'type' in session) return undefined;
  const name = Object.keys(session).find((field) => ofBeta.test(field));
  if (name === undefined) return undefined;
  const field = name === 'modalities' ? 'output_modalities' : `audio.input.${name.replace('input_audio_', '')}`;
  const message = `session.${name} belongs to the beta protocol: send session.type and session.${field}.`;
  return refusal('unknown_parameter', message, `session.${name}`);
}

/**
 * Checks the members of answers that callers read: a proxy, or another service, may answer with any JSON. Members that a
 * later contract adds are not listed, so that the client works with older services.
 */
import type {
  ChatEvent,
  ChatResult,
  ModelEntry,
  ModelList,
  Preparation,
  PreparationList,
  Problem,
  SpeechClip,
  SpeechModelEntry,
  TimedText,
  Transcription,
  TranscriptionAvailability,
  TranscriptionEvent,
  TranscriptionJob,
} from './contract.ts';

/** Returns whether a value has the required members. */
export type Shape = (value: unknown) => boolean;

const text: Shape = (value) => typeof value === 'string';
const number: Shape = (value) => typeof value === 'number';
const flag: Shape = (value) => typeof value === 'boolean';
const orNull =
  (shape: Shape): Shape =>
  (value) =>
    value === null || shape(value);
const orAbsent =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || shape(value);
const list =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape);

/** A check for each member of a contract type. */
type Members<T> = { readonly [Name in keyof T]?: Shape };

function object(members: Members<Readonly<Record<string, unknown>>>): Shape {
  const shapes = Object.entries<Shape | undefined>(members);
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    shapes.every(([name, shape]) => shape?.((value as Readonly<Record<string, unknown>>)[name]) ?? true);
}

const problem = object({ code: text, detail: text } satisfies Members<Problem>);
const timed = object({ start_ms: number, end_ms: number, text, speaker: orAbsent(text) } satisfies Members<TimedText>);
const turn = object({ start_ms: number, end_ms: number, text, speaker: text });
const speaker = object({ speaker: text, speech_ms: number });
export const transcription = object({
  text,
  segments: orAbsent(list(timed)),
  words: orAbsent(list(timed)),
  turns: orAbsent(list(turn)),
  speakers: orAbsent(list(speaker)),
} satisfies Members<Transcription>);
export const job = object({
  ...{ id: text, status: text, segments: list(timed) },
  ...{ result: orNull(transcription), problem: orNull(problem) },
} satisfies Members<TranscriptionJob>);
export const availability = object({
  available: flag,
  code: text,
  reason: text,
} satisfies Members<TranscriptionAvailability>);
const entry = { id: text, name: text, engine: text, local: flag, available: flag, code: text, reason: text };
const model = object({ ...entry, supports: list(text), languages: orAbsent(list(text)) } satisfies Members<ModelEntry>);
const voice = object({ id: text, name: text, language: orNull(text) } satisfies Members<
  SpeechModelEntry['voices'][number]
>);
const speechModel = object({
  ...entry,
  voices: list(voice),
  default_voice: orNull(text),
} satisfies Members<SpeechModelEntry>);
const listOf = (shape: Shape): Shape =>
  object({ data: list(shape), default: orNull(text), reason: orAbsent(text) } satisfies Members<ModelList>);
export const models = listOf(model);
export const speechModels = listOf(speechModel);
export const clip = object({ id: text, url: text } satisfies Members<SpeechClip>);
const usage = object({ total_tokens: number } satisfies Members<NonNullable<ChatResult['usage']>>);
export const chatResult = object({
  ...{ content: text, model: text, finish_reason: text, reasoning: orNull(text), usage: orNull(usage) },
} satisfies Members<ChatResult>);
export const preparation = object({
  ...{
    id: text,
    capability: text,
    title: text,
    purpose: text,
    license: text,
    state: text,
    reason: text,
    command: text,
  },
  ...{ configured: flag, bytes: orNull(number), progress: orNull(number), model: orNull(text) },
} satisfies Members<Preparation>);
export const preparations = object({
  data: list(preparation),
  startable: flag,
  reason: text,
} satisfies Members<PreparationList>);

/** The required members of each event type. */
export type EventShapes<Event extends { readonly type: string }> = Readonly<Record<Event['type'], Shape>>;

type EventMembers<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: Members<Extract<Event, { readonly type: Type }>>;
};

function events<Event extends { readonly type: string }>(members: EventMembers<Event>): EventShapes<Event> {
  const shapes = Object.entries<object>(members).map(([type, ofType]) => [type, object(ofType)]);
  return Object.fromEntries(shapes) as EventShapes<Event>;
}

export const chatEvents = events<ChatEvent>({
  'chat.started': {},
  'step.started': {},
  'reasoning.delta': { step: number, delta: text },
  'content.delta': { step: number, delta: text },
  'tool.started': { id: text, name: text },
  'tool.progress': { id: text, progress: number, total: orAbsent(number), message: orAbsent(text) },
  'audio.created': { audio: clip },
  'tool.finished': { id: text, ok: flag, output: orAbsent(text), error: orAbsent(text), duration_ms: number },
  'chat.completed': { result: chatResult },
  'chat.failed': { problem },
});

export const transcriptionEvents = events<TranscriptionEvent>({
  'transcription.started': {},
  'transcription.queued': { ahead: number },
  'segment.created': { segment: timed },
  'transcription.progress': { processed_ms: number, duration_ms: orAbsent(number) },
  'transcription.completed': { result: transcription },
  'transcription.failed': { problem },
});

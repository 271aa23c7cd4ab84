/** The public types of the client. Imports nothing from the service, so that pages can bundle it. */
import type { components, paths } from '../../generated/api.d.ts';
import type { components as openai } from '../../generated/openai-api.d.ts';

export type { paths };

type Schemas = components['schemas'];

/** Whether transcription is available, and why not. */
export type TranscriptionAvailability = Schemas['TranscriptionAvailability'];
/** A transcript. Times are in milliseconds. */
export type Transcription = Schemas['Transcription'];
/** Format of `transcriptions.transcript`. */
export type TranscriptFormat = Schemas['TranscriptFormat'];
/** State of a transcription of `transcriptions`. */
export type TranscriptionJob = Schemas['TranscriptionJob'];
/** The fields of a transcription besides its recording. */
export type TranscriptionFields = Readonly<Omit<Schemas['TranscriptionRequest'], 'file'>>;
/** A segment or a word of a transcript. Times are in milliseconds from the start of the recording. */
export type TimedText = Schemas['TimedText'];
/** An event of `streamTranscription` or `transcriptions.events`. */
export type TranscriptionEvent = Schemas['TranscriptionEvent'];
/** A transcription or chat model with its availability. */
export type ModelEntry = Schemas['ModelEntry'];
/** Models in settings order, and the id of the default model. */
export type ModelList = Schemas['ModelList'];
/** A speech model with its voices and availability. */
export type SpeechModelEntry = Schemas['SpeechModelEntry'];
/** Speech models in settings order, and the id of the default model. */
export type SpeechModelList = Schemas['SpeechModelList'];
/** A message of a conversation. */
export type Message = Schemas['Message'];
/** A conversation, and options for its answer. */
export type ChatRequest = Schemas['ChatRequest'];
/** The answer to a conversation. */
export type ChatResult = Schemas['ChatResult'];
/** An event of `streamChat`. */
export type ChatEvent = Schemas['ChatEvent'];
/** A text to speak, and options for its synthesis. */
export type SpeechRequest = Schemas['SpeechRequest'];
/** A clip of synthesized speech. */
export type SpeechClip = Schemas['Audio'];
/** A program, model or other component that can be installed, and its state. */
export type Preparation = Schemas['Preparation'];
/** The components that can be installed. */
export type PreparationList = Schemas['PreparationList'];
/** Problem details (RFC 9457) of a failed request. */
export type Problem = Schemas['Problem'];
/** The codes of `Problem`. */
export type ProblemCode = Schemas['ProblemCode'];
/** An invalid part of a request. */
export type Violation = Schemas['Violation'];

/** The events that a client sends on the WebSocket of `GET /v1/realtime`. */
export type RealtimeClientEvent = openai['schemas']['RealtimeClientEvent' | 'RealtimeTranscriptionClientEvent'];
/** The events that the service sends on the WebSocket of `GET /v1/realtime`. */
export type RealtimeServerEvent = openai['schemas']['RealtimeServerEvent' | 'RealtimeTranscriptionServerEvent'];

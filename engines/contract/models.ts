/**
 * Optional features of an entry. The service refuses or drops what an entry does not list, before any work: an engine
 * never receives it.
 */
export const features = [
  /** Transcription: `TranscriptionCall.prompt`. */
  'prompt',
  /** Transcription: `TranscriptionCall.temperature`. */
  'temperature',
  /** Transcription: `Transcript.segments`. */
  'segment',
  /** Transcription: `Transcript.words`. */
  'word',
  /** Transcription: `TranscriptionCall.keywords`. */
  'keywords',
  /** Transcription: `TranscriptionCall.translate`. */
  'translate',
  /** Transcription: `TranscriptionCall.diarize`. */
  'diarize',
  /** Speech: `SpeechCall.speed`. */
  'speed',
  /** Speech: `SpeechCall.instructions`. */
  'instructions',
  /** Chat: `ChatCall.tools`, `ChatCall.toolChoice` and messages of the role `tool`. */
  'tools',
  /** Chat: `ChatCall.provider`. */
  'json',
  /** Chat: `Message.parts`. */
  'images',
] as const;
export type Feature = (typeof features)[number];

export interface ModelEntry {
  /** As written in the settings, or the provider's own id for a discovered model. */
  readonly id: string;
  /** Display name; default: the id. */
  readonly name?: string;
  /** True when the engine's calls for this model never leave the machine; the service may run them on another machine of its operator. */
  readonly local: boolean;
  /** Listed by a provider, not written in the settings: the registry serves it as `instance/id`. */
  readonly discovered?: boolean;
  /** Ids of the assets that it cannot work without. */
  readonly needs?: readonly string[];
  /** Never the default model. */
  readonly byNameOnly?: boolean;
  /** Absent: none. */
  readonly supports?: readonly Feature[];
  /** For speech models whose voices are known. */
  readonly voices?: readonly Voice[];
  /** Of `voices`: the one that speaks when a call has neither a voice nor a language. */
  readonly defaultVoice?: string;
}

export interface Voice {
  readonly id: string;
  readonly name: string;
  /** ISO 639-1 code, or null if the voice speaks several languages. */
  readonly language: string | null;
}

export const availabilityCodes = [
  'ready',
  'disabled',
  'unknown-model',
  'no-model',
  'program-missing',
  'model-file-missing',
  'key-missing',
  'key-refused',
  'upstream-unreachable',
  'preparing',
  'busy',
  'loading',
  /** Set by the service when an engine throws or does not answer in time. Engines must not return it. */
  'engine-failed',
] as const;
export type AvailabilityCode = (typeof availabilityCodes)[number];

/** Use `available: false` only for permanent conditions: a frontend asks once and then hides its microphone button. */
export interface Availability {
  readonly available: boolean;
  readonly code: AvailabilityCode;
  /** One sentence for users: what is missing and how to fix it. */
  readonly reason: string;
  /** With `preparing`: how much is done, from 0 to 1. Absent: unknown. */
  readonly progress?: number;
}

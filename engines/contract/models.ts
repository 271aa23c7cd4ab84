/**
 * Optional features of an entry. The service rejects or drops a field that belongs to a feature that the entry does not
 * list: an engine never receives it. The values are the names of the features in messages.
 */
export const features = {
  /** Transcription: `TranscriptionCall.prompt`. */
  prompt: 'a prompt',
  /** Transcription: `TranscriptionCall.temperature`. */
  temperature: 'a temperature',
  /** Transcription: `Transcript.segments`. */
  segment: 'timestamps of segments',
  /** Transcription: `Transcript.words`. */
  word: 'timestamps of words',
  /** Transcription: `TranscriptionCall.keywords`. */
  keywords: 'keywords',
  /** Transcription: `TranscriptionCall.languages`. */
  languages: 'a choice of languages',
  /** Transcription: `TranscriptionCall.translate`. */
  translate: 'translation into English',
  /** Transcription: `TranscriptionCall.diarize` and `knownSpeakers`. */
  diarize: 'telling speakers apart',
  /** Speech: `SpeechCall.speed`. */
  speed: 'a speed',
  /** Speech: `SpeechCall.instructions`. */
  instructions: 'instructions',
  /** Chat: `ChatCall.tools`, `ChatCall.toolChoice` and messages of the role `tool`. */
  tools: 'tools',
  /** Chat: `ChatCall.provider`. */
  json: 'fields of the provider',
  /** Chat: `Message.parts`. */
  images: 'images',
} as const;
/** A key of `features`. */
export type Feature = keyof typeof features;

/** A model that an engine serves. */
export interface ModelEntry {
  /** As written in the settings, or the provider's own id for a discovered model. */
  readonly id: string;
  /** Display name. Defaults to the id if not specified. */
  readonly name?: string;
  /**
   * True if the engine sends no data of a call to another machine. In a fleet, the service may still run the call on
   * another machine of the operator.
   */
  readonly local: boolean;
  /**
   * True while it is unknown whether the model is local. `local` is false in the meantime, but no hosted model replaces
   * this one as the default.
   * @default false
   */
  readonly mayBeLocal?: boolean;
  /**
   * True if a provider lists the model and the settings do not: the service serves it as `instance/id`.
   * @default false
   */
  readonly discovered?: boolean;
  /** Ids of the assets that the model requires. Defaults to none if not specified. */
  readonly needs?: readonly string[];
  /**
   * True if the model serves only requests that name it: it is never the default model.
   * @default false
   */
  readonly isExplicitOnly?: boolean;
  /** Features of the model. Defaults to none if not specified. */
  readonly supports?: readonly Feature[];
  /**
   * Transcription: the allowed values of `TranscriptionCall.language`; empty if the model accepts none. Absent if the
   * languages are not known.
   */
  readonly languages?: readonly string[];
  /** Speech models: the voices, if known. */
  readonly voices?: readonly Voice[];
  /**
   * Id of the voice that speaks when a call has neither a voice nor a language. If `voices` are known, it is one of
   * them.
   */
  readonly defaultVoice?: string;
  /**
   * Whether the model can be used, as far as the engine knows. The service adds what it knows itself: missing assets, a
   * full queue of the engine, a resident program that is loading or could not be loaded. Defaults to `ready` if not
   * specified.
   */
  readonly availability?: Availability;
}

/** A voice of a speech model. */
export interface Voice {
  /** The value of `SpeechCall.voice` in calls. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** ISO 639-1 code, or null if the voice speaks several languages, or a language without such a code. */
  readonly language: string | null;
}

/** States of a model. */
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
  /** Set by the service when an engine fails. Engines must not publish it. */
  'engine-failed',
] as const;
/** One of `availabilityCodes`. */
export type AvailabilityCode = (typeof availabilityCodes)[number];

/** Whether a model can be used now. */
export interface Availability {
  /** Use false only for permanent conditions: a frontend asks once and then hides its microphone button. */
  readonly available: boolean;
  readonly code: AvailabilityCode;
  /** One sentence for users: what is missing and how to fix it. */
  readonly reason: string;
  /** Sentences that follow `reason` for the operator, as in an `EngineError`. */
  readonly forOperator?: string | undefined;
  /** With the code `preparing`: how much is done, from 0 to 1. Absent if unknown. */
  readonly progress?: number;
}

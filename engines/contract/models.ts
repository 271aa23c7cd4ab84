export interface ModelEntry {
  /** As written in the settings; of a discovered model, the provider's own id. */
  readonly id: string;
  /** For people; the id when absent. */
  readonly name?: string;
  /** True when the engine's calls for this model never leave the machine. */
  readonly local: boolean;
  /** Read from a provider rather than written in the settings: the registry then serves it as `instance/id`. */
  readonly discovered?: boolean;
  /** Of a speech model whose voices are known. */
  readonly voices?: readonly Voice[];
}

export interface Voice {
  readonly id: string;
  readonly name: string;
  /** ISO 639-1, or null when the voice speaks several languages. */
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
  /** The service's word for an engine that throws or never answers; an engine must not say it itself. */
  'engine-failed',
] as const;
export type AvailabilityCode = (typeof availabilityCodes)[number];

/** `available: false` only for what does not pass by itself: a frontend asks once and hides its microphone. */
export interface Availability {
  readonly available: boolean;
  readonly code: AvailabilityCode;
  /** A sentence for the person who reads it: what is missing and how to get it. */
  readonly reason: string;
}

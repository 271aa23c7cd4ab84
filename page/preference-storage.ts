/** Preferences kept on this device. Pure, except for the storage that is passed in. */
export interface Preferences {
  readonly transcriptionModel?: string;
  readonly chatModel?: string;
  readonly speechModel?: string;
  readonly voice?: string;
  /** Language of recordings: ISO 639-1 or, for `yue` and `haw`, 639-3; "" for automatic detection. */
  readonly language: string;
  /** Recordings are translated into English by models that support this. */
  readonly translate: boolean;
  /** Names and terms that may occur in recordings, separated by commas. */
  readonly keywords: string;
  /** How the speakers of files are distinguished; "": not at all. */
  readonly speakers: '' | SpeakerMode;
  /** The number of speakers. Undefined: unknown. */
  readonly speakerCount?: number | undefined;
  /** Sent before the conversation; "" for none. */
  readonly systemPrompt: string;
  /** The temperature of the chat model. Undefined: the default of the model. */
  readonly temperature?: number | undefined;
  /** Transcripts are sent without review. */
  readonly sendAtOnce: boolean;
  /** Undefined until the user decides: then answers are read aloud in hands-free mode only. */
  readonly readAloud?: boolean;
  /** Milliseconds of silence that end an utterance in hands-free mode. */
  readonly pauseMs: number;
  /** Speech interrupts an answer in hands-free mode. `automatic`: if the browser cancels echo. */
  readonly bargeIn: BargeIn;
  readonly microphone?: string;
  /** Recordings that failed to transcribe survive a reload. */
  readonly keepRecordings: boolean;
  /** Whether the user has dismissed the offer to install more. */
  readonly offersDismissed: boolean;
}

export const speakerModes = ['voice', 'channel'] as const;
export type SpeakerMode = (typeof speakerModes)[number];

/** The service accepts up to 32. */
export const speakerCounts = { min: 2, max: 32 } as const;

export const bargeInModes = ['automatic', 'always', 'never'] as const;
export type BargeIn = (typeof bargeInModes)[number];

export const pauseRange = { min: 500, max: 3_000, step: 250 } as const;

export const temperatureRange = { min: 0, max: 2, step: 0.1 } as const;

/** Limits of the service, in characters. */
export const longestKeywords = 1_000;
export const longestSystemPrompt = 32_000;

export const defaults: Preferences = {
  ...{ language: '', translate: false, keywords: '', speakers: '', systemPrompt: '' },
  ...{ sendAtOnce: false, pauseMs: 1_000, bargeIn: 'automatic', keepRecordings: true, offersDismissed: false },
};

const name = 'parlance-settings';

export interface PreferenceStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

/** Fields that are missing, of another type, or out of range get their defaults. */
export function readPreferences(storage: () => PreferenceStorage): Preferences {
  let stored: unknown;
  try {
    stored = JSON.parse(storage().getItem(name) ?? '{}');
  } catch {
    return defaults; // blocked storage, or invalid JSON
  }
  return { ...defaults, ...validPreferences(stored) };
}

/** The fields that are valid. */
export function validPreferences(stored: unknown): Partial<Preferences> {
  if (typeof stored !== 'object' || stored === null) return {};
  return Object.fromEntries(Object.entries(stored).filter(([field, value]) => isValid.get(field)?.(value)));
}

export function writePreferences(storage: () => PreferenceStorage, settings: Preferences): void {
  try {
    storage().setItem(name, JSON.stringify(settings));
  } catch {
    // Blocked or full: the settings last as long as the page.
  }
}

const isText = (value: unknown) => typeof value === 'string';
const isSwitch = (value: unknown) => typeof value === 'boolean';
const isTextUpTo = (length: number) => (value: unknown) => typeof value === 'string' && value.length <= length;
const isWithin =
  ({ min, max }: { readonly min: number; readonly max: number }) =>
  (value: unknown) =>
    typeof value === 'number' && value >= min && value <= max;

const isValid: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries({
    transcriptionModel: isText,
    chatModel: isText,
    speechModel: isText,
    voice: isText,
    language: (value: unknown) => typeof value === 'string' && /^([a-z]{2,3})?$/.test(value),
    translate: isSwitch,
    keywords: isTextUpTo(longestKeywords),
    speakers: (value: unknown) => ['', ...speakerModes].some((mode) => mode === value),
    speakerCount: (value: unknown) => Number.isInteger(value) && isWithin(speakerCounts)(value),
    systemPrompt: isTextUpTo(longestSystemPrompt),
    temperature: isWithin(temperatureRange),
    microphone: isText,
    sendAtOnce: isSwitch,
    readAloud: isSwitch,
    bargeIn: (value: unknown) => bargeInModes.some((mode) => mode === value),
    keepRecordings: isSwitch,
    offersDismissed: isSwitch,
    pauseMs: isWithin(pauseRange),
  } satisfies Record<keyof Preferences, (value: unknown) => boolean>),
);

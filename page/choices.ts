/** Entries and texts of the pickers. Pure. */
import type { ModelEntry, SpeechModelEntry, TranscribeOptions } from '../src/client/index.ts';
import type { Preferences, SpeakerMode } from './preference-storage.ts';

export interface Listing<E extends ModelEntry = ModelEntry> {
  readonly data: readonly E[];
  readonly default: string | null;
  /** Why engines of the settings list no models. */
  readonly reason?: string;
  /** Set if the key may not see the listing, which is then empty. */
  readonly refusal?: string;
}

/**
 * Returns the requested entry if it is listed; otherwise the default, the first that is available, or the first one.
 */
export function choose<E extends ModelEntry>(listing: Listing<E>, requested: string | undefined): E | undefined {
  const byId = (id: string | null | undefined) => listing.data.find((entry) => entry.id === id);
  return byId(requested) ?? byId(listing.default) ?? listing.data.find(({ available }) => available) ?? listing.data[0];
}

/** Returns the requested voice if the model has it; undefined if the service is to choose. */
export function chooseVoice(entry: SpeechModelEntry | undefined, requested: string | undefined): string | undefined {
  return entry?.voices.find(({ id }) => id === requested)?.id;
}

/** The text of an entry in the list; it says where data is sent, unless the model is local. */
export function optionText({ name, local, engine, available, reason }: ModelEntry): string {
  if (!available) return `${isolated(name)} · ${reason}`;
  return local ? name : `${isolated(name)} · sent to ${engine}`;
}

/** A right-to-left name does not reverse what follows it. An option may not contain a `<bdi>`. */
const isolated = (name: string) => `\u2068${name}\u2069`;

export function placeOf({ local, engine }: ModelEntry): string {
  return local ? 'On this machine' : `Sent to ${engine}`;
}

export const capabilities = ['transcription', 'chat', 'speech'] as const;
export type Capability = (typeof capabilities)[number];

/** The data that each capability sends. */
const dataOf: Readonly<Record<Capability, string>> = {
  transcription: 'recordings',
  chat: 'chat',
  speech: 'text to speak',
};

/** Where the chosen models send data. A model that is not available receives none. */
export function privacyOf(chosen: Readonly<Record<Capability, ModelEntry | undefined>>): {
  readonly isLocal: boolean;
  readonly text: string;
} {
  const sent = new Map<string, string[]>();
  for (const capability of capabilities) {
    const entry = chosen[capability];
    if (!entry?.available || entry.local) continue;
    sent.set(entry.engine, [...(sent.get(entry.engine) ?? []), dataOf[capability]]);
  }
  if (sent.size === 0) return { isLocal: true, text: 'Everything stays on this machine' };
  return { isLocal: false, text: [...sent].map(toSentence).join(' · ') };
}

function toSentence([engine, data]: readonly [engine: string, data: readonly string[]]): string {
  const verb = data.length > 1 || data[0] === dataOf.transcription ? 'are' : 'is';
  const sentence = `${data.join(' and ')} ${verb} sent to ${engine}`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** Fields of a request that has a recording. */
export type RecordingFields = Pick<TranscribeOptions, 'model' | 'language' | 'task' | 'keywords'>;

export type SpeakerFields = Pick<TranscribeOptions, 'channels' | 'diarize' | 'min_speakers' | 'max_speakers'>;

/** Returns the fields without those that the model would reject. */
export function recordingFieldsFor(
  entry: ModelEntry | undefined,
  { language, translate, keywords }: Pick<Preferences, 'language' | 'translate' | 'keywords'>,
): RecordingFields {
  if (!entry) return {};
  const words = takesKeywords(entry) ? keywords.split(',').flatMap((word) => word.trim() || []) : [];
  return {
    model: entry.id,
    ...(language !== '' && knowsLanguage(entry, language) && { language }),
    ...(translate && entry.supports.includes('translate') && { task: 'translate' }),
    ...(words.length > 0 && { keywords: words }),
  };
}

/** The feature that a model needs for each way of distinguishing speakers. */
const neededFor = { voice: 'diarize', channel: 'segment' } as const satisfies Record<SpeakerMode, string>;

export const canDistinguish = ({ supports }: ModelEntry, mode: SpeakerMode): boolean =>
  supports.includes(neededFor[mode]);

/** A model that distinguishes speakers by itself accepts no number. One without times of words can only be such a model. */
export const takesSpeakerCount = ({ supports }: ModelEntry): boolean => supports.includes('word');

/** Returns the fields for a file, whose speakers the reader shows. */
export function speakerFieldsFor(
  entry: ModelEntry | undefined,
  { speakers, speakerCount }: Pick<Preferences, 'speakers' | 'speakerCount'>,
): SpeakerFields {
  if (!entry || speakers === '' || !canDistinguish(entry, speakers)) return {};
  if (speakers === 'channel') return { channels: 'separate' };
  const count = String(speakerCount);
  const isExact = speakerCount !== undefined && takesSpeakerCount(entry);
  return { diarize: 'true', ...(isExact && { min_speakers: count, max_speakers: count }) };
}

/** The finest timestamps that the model supports. */
export function timestampsFor(entry: ModelEntry | undefined): Pick<TranscribeOptions, 'timestamps'> {
  const timestamps = (['word', 'segment'] as const).find((one) => entry?.supports.includes(one));
  return timestamps ? { timestamps } : {};
}

/**
 * True for automatic detection, and for a model that does not list its languages: such a model decides when it has the
 * recording.
 */
export const knowsLanguage = ({ languages }: ModelEntry, language: string): boolean =>
  language === '' || languages === undefined || languages.includes(language);

/** A model without `keywords` gets the keywords in its prompt. */
export const takesKeywords = ({ supports }: ModelEntry): boolean =>
  supports.includes('keywords') || supports.includes('prompt');

/** Other ways to get the capability, for the operator of the server. */
export const otherWays: Readonly<Record<Capability, string>> = {
  transcription: 'set OPENAI_API_KEY and TRANSCRIBE_MODEL',
  chat: 'start Ollama or llama.cpp, or set OPENAI_API_KEY',
  speech: 'install espeak-ng, or set OPENAI_API_KEY and TTS_MODEL',
};

/** Advice for a capability that is missing; undefined if it is ready or preparing. */
export function adviceFor(capability: Capability, entry: ModelEntry | undefined, refusal?: string): string | undefined {
  const setup = capability === 'transcription' ? 'run “npm run setup”, or ' : '';
  if (!entry) return refusal ?? `On the server, ${setup}${otherWays[capability]}.`;
  return entry.available || isPreparing(entry) ? undefined : entry.reason;
}

/** True for a missing or refused key of a provider, and for an engine that fails. */
export const isBroken = ({ code }: Pick<ModelEntry, 'code'>): boolean => /^(key|engine)-/.test(code);

export const isPreparing = ({ code }: Pick<ModelEntry, 'code'>): boolean => code === 'preparing';

/**
 * The table of transcription parameters other than the recording and the model, with one row for each field of the
 * engine's call and for each parameter that the service itself handles. The APIs use it to read their fields, `fit`
 * applies it to a model, and the conformance kit and the docs list it.
 */
import type { Feature, KnownSpeaker, TimestampKind, TranscriptionCall } from '../../engines/contract/index.ts';
import { toLanguage } from '../../lib/languages.ts';
import { FormReader } from '../contract/form-reader.ts';
import type { FormFields, Schemas } from '../contract/operations.ts';
import { inBody, invalid, ProblemError } from '../contract/problems.ts';

/** The parameters that the engine receives. */
export type EngineParameters = Omit<TranscriptionCall, 'recording' | 'model'>;

/** The parameters that the service itself handles. */
interface SpeakerParameters {
  /** Transcribes each channel of a stereo recording as one speaker. */
  readonly channels?: 'separate';
  /** The numbers of speakers that the recording may have, 1 to 32. Only with `diarize`. */
  readonly minSpeakers?: number;
  readonly maxSpeakers?: number;
}

export type TranscriptionParameters = EngineParameters & SpeakerParameters;
export type ParameterName = keyof TranscriptionParameters;
/** The fields of a form under /api/v1. Small files are data URLs. */
export type ApiFields = Omit<Schemas['TranscriptionRequest'], 'file' | 'model'>;

export interface Parameter<Value> {
  /** Features that a model needs for this parameter. */
  readonly features: readonly Feature[];
  /** A fallback: a model with this feature also accepts the parameter. */
  readonly instead?: Feature;
  /**
   * Returns the part of the value that a model supports: undefined if it supports none, null if the value has no effect
   * anyway. Default: the whole value if the model has the features.
   */
  fit?(value: Value, has: (feature: Feature) => boolean, asked: TranscriptionParameters): Value | null | undefined;
  /**
   * Field under /api/v1, which rejects the request if the model lacks the features. Invalid text counts as absent,
   * because contract validation rejects it; absent text is "".
   */
  readonly api?: { readonly field: keyof ApiFields; read(text: string, form: FormReader): Value | undefined };
  /**
   * Field of a form under /v1; absent if another field such as `response_format` decides. Without the features, the
   * field is listed as ignored, or rejected if `isRefused`.
   */
  readonly openai?: {
    readonly field: string;
    readonly alias?: string;
    readonly isRefused?: true;
    readonly note?: string;
    /** Throws if the value is invalid. */
    read(form: FormReader): Value | undefined;
  };
  /** Field of a live session. Without its features, or with a value out of range, it has no effect. */
  readonly session?: { readonly field: string; read(sent: readonly string[]): Value | undefined };
  /** A value for the conformance kit. */
  readonly sample?: Value;
}

type Parameters = { readonly [Name in ParameterName]-?: Parameter<NonNullable<TranscriptionParameters[Name]>> };

const table: Parameters = {
  language: {
    features: [],
    api: { field: 'language', read: (text) => text },
    openai: { field: 'language', read: readLanguage },
    session: { field: 'language', read: ([name = '']) => toLanguage(name) ?? undefined },
  },
  timestamps: {
    features: ['segment', 'word'],
    fit: (kinds, has) => kinds.filter(has),
    api: { field: 'timestamps', read: (text) => kindsOf.get(text) },
  },
  translate: {
    features: ['translate'],
    api: { field: 'task', read: (text) => (text === 'translate' ? true : undefined) },
    sample: true,
  },
  channels: {
    features: ['segment'],
    api: { field: 'channels', read: (text) => (text === 'separate' ? text : undefined) },
  },
  diarize: {
    features: ['diarize'],
    api: { field: 'diarize', read: (text) => (text === 'true' ? true : undefined) },
  },
  minSpeakers: { features: ['diarize'], api: { field: 'min_speakers', read: readCount } },
  maxSpeakers: { features: ['diarize'], api: { field: 'max_speakers', read: readCount } },
  knownSpeakers: {
    features: ['diarize'],
    api: { field: 'known_speaker_names', read: (_text, form) => readKnownSpeakers(form) },
    openai: {
      ...{ field: 'known_speaker_names', alias: 'known_speaker_references' },
      ...{ isRefused: true, read: readKnownSpeakers },
    },
  },
  prompt: {
    features: ['prompt'],
    openai: { field: 'prompt', read: (form) => form.last('prompt') },
    session: { field: 'prompt', read: ([text = '']) => text.slice(-maxPrompt) },
    sample: '-- Parlance,\nyes, no', // checks that a value resembling a command-line option works
  },
  keywords: {
    features: ['keywords'],
    instead: 'prompt',
    api: { field: 'keywords', read: (text) => cleanWords(text.split(',')) },
    openai: {
      ...{ field: 'keywords', alias: 'hotwords', read: readKeywords },
      note: 'Models with `prompt` get them in the prompt.',
    },
    session: { field: 'keywords', read: (words) => withinLimits(words.filter((word) => word.trim() !== '')) },
    sample: ['-- Parlance', 'yes'],
  },
  temperature: {
    features: ['temperature'],
    // 0 is the default, and the AI SDK always sends it.
    fit: (value, has) => (has('temperature') ? value : value === 0 ? null : undefined),
    openai: { field: 'temperature', note: 'Values other than 0.', read: readTemperature },
    sample: 0.2,
  },
  languages: {
    features: ['languages'],
    fit: (codes, has, { language }) =>
      language === undefined && (codes.length === 1 || has('languages')) ? codes : undefined,
    openai: {
      field: 'languages',
      note: 'A single language has the effect of `language`. Every model ignores unknown ones.',
      read(form) {
        const codes = form.all('languages').map(toLanguage);
        if (codes.includes(null)) form.ignored.add('languages');
        return knownOf(codes);
      },
    },
    session: { field: 'languages', read: (names) => knownOf(names.map(toLanguage)) },
    sample: ['en', 'de'],
  },
};

type NamedParameter = readonly [ParameterName, Parameter<unknown>];
export const parameters = Object.entries(table) as readonly NamedParameter[];

/** Collects the parameters that `read` returns, omitting those that request nothing. */
export function collectParameters(
  read: (row: Parameter<unknown>, name: ParameterName) => unknown,
): TranscriptionParameters {
  return Object.fromEntries(
    parameters.map(([name, row]) => [name, read(row, name)] as const).filter(([, value]) => !isNothing(value)),
  );
}

const isNothing = (value: unknown): boolean =>
  value == null || value === '' || Number.isNaN(value) || (Array.isArray(value) && value.length === 0);

/** Reads the fields under /api/v1, even before they have been validated. Throws for known speakers that are invalid. */
export function fromApi(fields: { readonly [Field in keyof ApiFields]?: unknown }): TranscriptionParameters {
  const form = new FormReader(fields as FormFields);
  const { diarize, minSpeakers, maxSpeakers, knownSpeakers, ...asked } = collectParameters(({ api }) => {
    const text = api && fields[api.field];
    return api?.read(typeof text === 'string' ? text : '', form);
  });
  if (asked.channels) return { ...asked, ...(knownSpeakers && { knownSpeakers }) }; // each channel is a speaker
  const speakers = Object.entries({ minSpeakers, maxSpeakers, knownSpeakers }).filter(([, value]) => value);
  return { ...asked, ...((diarize ?? speakers.length > 0) && { diarize: true, ...Object.fromEntries(speakers) }) };
}

/** Reads a form under /v1. Throws for invalid values. */
export function fromForm(form: FormReader): TranscriptionParameters {
  return collectParameters(({ openai }) => openai?.read(form));
}

/** Returns the name of a parameter's form field under /v1. */
export const openaiFieldOf = (name: ParameterName): string => table[name].openai?.field ?? name;

/** Changes the parameters of a live session: an absent field keeps its value, and null resets it. */
export function updated(
  current: TranscriptionParameters,
  sent: Readonly<Record<string, unknown>>,
): TranscriptionParameters {
  return collectParameters(({ session }, name) => {
    const value = session && sent[session.field];
    if (value === undefined) return current[name];
    return value === null ? undefined : session?.read([value].flat().map(String));
  });
}

/** Returns the fields of a live session that have an effect. */
export function toSessionFields(
  current: TranscriptionParameters,
  ignored: readonly ParameterName[],
): Readonly<Record<string, unknown>> {
  const known = parameters.filter(([name, { session }]) => session && !ignored.includes(name) && name in current);
  return Object.fromEntries(
    known.map(([name, { session }]): [string, unknown] => [session?.field ?? name, current[name]]),
  );
}

/** Timestamps to request from the engine. A request for words includes segments. */
const kindsOf: ReadonlyMap<string, readonly TimestampKind[]> = new Map([
  ['segment', ['segment']],
  ['word', ['segment', 'word']],
]);

const maxPrompt = 8_192;
const maxKeywords = 200;
const maxKeywordLength = 64;
/** Maximum number of characters in all keywords: above Whisper's limit of 224 tokens. */
const maxKeywordCharacters = 2_000;

/** Reads OpenAI's `keywords`, one per field, and faster-whisper's `hotwords`, separated by commas. */
function readKeywords(form: FormReader): readonly string[] {
  const all = cleanWords([...form.all('keywords'), ...form.all('hotwords').flatMap((value) => value.split(','))]);
  if (all.length > maxKeywords || all.some((word) => Array.from(word).length > maxKeywordLength)) {
    const rule = `must be at most ${maxKeywords} keywords of at most ${maxKeywordLength} characters`;
    throw invalid('body', form.has('keywords') ? '/keywords' : '/hotwords', rule);
  }
  const keywords = withinLimits(all);
  if (keywords.length < all.length) form.ignored.add('keywords');
  return keywords;
}

const cleanWords = (words: readonly string[]) => words.flatMap((word) => word.replaceAll(/\s+/g, ' ').trim() || []);

/** Drops the keywords beyond the limits. */
function withinLimits(all: readonly string[]): readonly string[] {
  let remaining = maxKeywordCharacters;
  const short = all.filter((word) => Array.from(word).length <= maxKeywordLength);
  return short.slice(0, maxKeywords).filter((word) => (remaining -= word.length) >= 0);
}

function readLanguage(form: FormReader): string | undefined {
  const name = form.last('language');
  if (name === undefined || name.trim().toLowerCase() === 'auto') return undefined;
  const language = toLanguage(name);
  if (language !== null) return language;
  const detail = `Unknown language "${name}"; send an ISO 639-1 code such as de, or no language.`;
  throw new ProblemError('language-not-supported', detail, inBody('/language', 'must be a language'));
}

const knownOf = (codes: readonly (string | null)[]) => [...new Set(codes.filter((code) => code !== null))];

function readCount(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

const maxSpeakers = 4;
/** As in the contract. A name is in lines of text and of subtitles. */
// eslint-disable-next-line no-control-regex -- they are excluded
const speakerName = /^[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f\u2028\u2029]{0,63}$/u;

/** While fields are missing, so may be names or references: they are "". */
function readKnownSpeakers(form: FormReader): readonly KnownSpeaker[] {
  const names = form.all('known_speaker_names');
  const references = form.all('known_speaker_references');
  if (names.length > maxSpeakers || !names.every((name) => speakerName.test(name))) {
    const rule = `must be at most ${maxSpeakers} names of at most 64 characters, without control characters`;
    throw invalid('body', '/known_speaker_names', rule);
  }
  if (references.some((reference) => !/^data:[^,]{0,100},./.test(reference)))
    throw invalid('body', '/known_speaker_references', 'must be recordings; under /v1, as data URLs');
  return Array.from({ length: Math.max(names.length, references.length) }, (_, index) => ({
    name: names[index] ?? '',
    reference: references[index] ?? '',
  }));
}

/** Whether each known speaker has a name and a reference. */
export const arePaired = (known: readonly KnownSpeaker[] = []): boolean =>
  known.every(({ name, reference }) => name !== '' && reference !== '');

function readTemperature(form: FormReader): number | undefined {
  const value = form.last('temperature');
  if (value === undefined) return undefined;
  const temperature = value.trim() === '' ? NaN : Number(value);
  if (temperature >= 0 && temperature <= 1) return temperature;
  throw invalid('body', '/temperature', 'must be a number from 0 to 1');
}

/** Reads the fields of a form with a recording. */
import type { KnownSpeaker, TimestampKind } from '../../engines/contract/index.ts';
import { timestampKinds } from '../../engines/contract/index.ts';
import { toLanguage } from '../../lib/languages.ts';
import type { FormFields } from '../contract/operations.ts';
import { inBody, invalid, ProblemError } from '../contract/problems.ts';
import type { CueShape } from '../transcription/cues.ts';
import { unsupportedParameter } from './errors.ts';
import { fieldsWith } from './field-table.ts';

const plainFormats = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
const formats = [...plainFormats, 'diarized_json'] as const;
export type PlainFormat = (typeof plainFormats)[number];
export type Format = (typeof formats)[number];
export type Task = 'transcribe' | 'translate';

export interface RequestedTranscription {
  readonly task: Task;
  readonly model: string | undefined;
  /** ISO 639-1. */
  readonly language: string | undefined;
  /** Languages that the recording may be in, ISO 639-1; [] with `language`. */
  readonly languages: readonly string[];
  readonly prompt: string | undefined;
  readonly keywords: readonly string[];
  /** From 0 to 1. */
  readonly temperature: number | undefined;
  readonly format: Format;
  /** Only for `diarized_json`. */
  readonly knownSpeakers: readonly KnownSpeaker[];
  /** Timestamps that the format requires. */
  readonly granularities: readonly TimestampKind[];
  readonly stream: boolean;
  /** Line limits for srt and vtt; undefined: one cue per segment. */
  readonly shape: CueShape | undefined;
  /** Names of fields that are ignored for every model because they cannot change the answer. */
  readonly hints: readonly string[];
}

const hintNames = fieldsWith('createTranscription', 'ignored');

/** Fields that are rejected because they would change the answer. Apps send false for those that are off. */
const refusedNames = [...fieldsWith('createTranscription', 'refused'), 'diarize'];

/**
 * Throws `invalid-request`, `language-not-supported` and `parameter-not-supported`. Rules about two fields are checked
 * only if the form is `complete`, because the other field may follow.
 */
export function readTranscriptionFields(
  fields: FormFields,
  { complete }: { complete: boolean },
): RequestedTranscription {
  for (const name of refusedNames)
    if (given(fields, name).some((value) => !isFalse(value))) throw unsupportedParameter(`/${name}`);
  const format = readFormat(formats, text(fields, 'response_format'));
  const granularities = readGranularities(given(fields, 'timestamp_granularities'));
  const stream = readFlag(fields, 'stream');
  if (complete && granularities && format !== 'verbose_json') {
    throw invalid('body', '/timestamp_granularities', 'needs the response_format verbose_json');
  }
  const shape = readShape(fields);
  if (complete && shape && format !== 'srt' && format !== 'vtt') {
    const name = given(fields, 'max_line_width').length > 0 ? 'max_line_width' : 'max_line_count';
    throw invalid('body', `/${name}`, 'needs the response_format srt or vtt');
  }
  if (complete && stream && format !== 'json' && format !== 'text') {
    throw invalid('body', '/stream', `is not possible with the response_format ${format}`);
  }
  const knownSpeakers = readKnownSpeakers(fields, { complete });
  if (complete && knownSpeakers.length > 0 && format !== 'diarized_json') {
    throw invalid('body', '/known_speaker_names', 'needs the response_format diarized_json');
  }
  const language = readLanguage(text(fields, 'language'));
  const { keywords, dropped } = readKeywords(fields);
  const { languages, unknown } = readLanguages(fields);
  const hints = hintNames.filter((name) => given(fields, name).length > 0);
  return {
    task: 'transcribe',
    model: text(fields, 'model'),
    language,
    languages: language === undefined ? languages : [],
    prompt: text(fields, 'prompt'),
    keywords,
    temperature: readTemperature(text(fields, 'temperature')),
    format,
    knownSpeakers,
    granularities: granularities ?? (timedFormats.has(format) ? [shape ? 'word' : 'segment'] : []),
    stream,
    shape,
    hints: [
      ...hints,
      ...(dropped ? ['keywords'] : []),
      ...(unknown || (language !== undefined && languages.length > 0) ? ['languages'] : []),
    ],
  };
}

/** The words of a translation have no timestamps, since they were not spoken. */
const notForTranslations = fieldsWith('createTranslation', 'refused');

export type RequestedTranslation = RequestedTranscription & { readonly format: PlainFormat };

/** Throws the same errors as `readTranscriptionFields`. */
export function readTranslationFields(fields: FormFields, { complete }: { complete: boolean }): RequestedTranslation {
  for (const name of notForTranslations) if (given(fields, name).length > 0) throw unsupportedParameter(`/${name}`);
  const format = readFormat(plainFormats, text(fields, 'response_format'));
  return { ...readTranscriptionFields(fields, { complete }), format, task: 'translate' };
}

const timedFormats: ReadonlySet<Format> = new Set(['srt', 'vtt', 'verbose_json']);

const maxKeywords = 200;
const maxKeywordLength = 64;
/** Maximum number of characters in all keywords: about Whisper's limit of 224 tokens. */
const maxKeywordCharacters = 2_000;

/** Reads OpenAI's `keywords`, one per field, and faster-whisper's `hotwords`, separated by commas. */
function readKeywords(fields: FormFields): { readonly keywords: readonly string[]; readonly dropped: boolean } {
  const hotwords = given(fields, 'hotwords').flatMap((value) => value.split(','));
  const all = [...given(fields, 'keywords'), ...hotwords]
    .map((word) => word.replaceAll(/\s+/g, ' ').trim())
    .filter((word) => word !== '');
  if (all.length > maxKeywords || all.some((word) => Array.from(word).length > maxKeywordLength)) {
    const rule = `must be at most ${maxKeywords} keywords of at most ${maxKeywordLength} characters`;
    throw invalid('body', given(fields, 'keywords').length > 0 ? '/keywords' : '/hotwords', rule);
  }
  const keywords = withinKeywordLimits(all);
  return { keywords, dropped: keywords.length < all.length };
}

/** Drops the keywords beyond the limits. */
export function withinKeywordLimits(all: readonly string[]): string[] {
  let remaining = maxKeywordCharacters;
  const short = all.filter((word) => Array.from(word).length <= maxKeywordLength);
  return short.slice(0, maxKeywords).filter((word) => (remaining -= word.length) >= 0);
}

/** The values of a field that may be repeated. */
function given(fields: FormFields, name: string): readonly string[] {
  return [fields[name] ?? []].flat();
}

/** The last value of a repeated field; undefined if absent. */
function text(fields: FormFields, name: string): string | undefined {
  return given(fields, name).at(-1);
}

function isFalse(value: string): boolean {
  return /^(false|0)$/i.test(value);
}

function readFlag(fields: FormFields, name: string): boolean {
  const value = text(fields, name) ?? 'false';
  if (/^(true|1)$/i.test(value)) return true;
  if (isFalse(value)) return false;
  throw invalid('body', `/${name}`, 'must be true or false');
}

/** Default line limits of subtitles. */
const defaultShape: CueShape = { width: 42, lines: 2 };

function readShape(fields: FormFields): CueShape | undefined {
  const width = readCount(fields, 'max_line_width', 10, 200);
  const lines = readCount(fields, 'max_line_count', 1, 10);
  if (width === undefined && lines === undefined) return undefined;
  return { width: width ?? defaultShape.width, lines: lines ?? defaultShape.lines };
}

function readCount(fields: FormFields, name: string, least: number, most: number): number | undefined {
  const value = text(fields, name);
  if (value === undefined) return undefined;
  const count = /^\d{1,3}$/.test(value.trim()) ? Number(value) : NaN;
  if (count >= least && count <= most) return count;
  throw invalid('body', `/${name}`, `must be an integer from ${least} to ${most}`);
}

function readFormat<F extends Format>(known: readonly F[], name = 'json'): F {
  const format = known.find((one) => one === name);
  if (format) return format;
  throw invalid('body', '/response_format', `must be one of ${known.join(', ')}`);
}

function readGranularities(values: readonly string[]): readonly TimestampKind[] | undefined {
  if (values.length === 0) return undefined;
  const kinds = timestampKinds.filter((kind) => values.includes(kind));
  if (kinds.length === new Set(values).size) return kinds;
  throw invalid('body', '/timestamp_granularities', `must be ${timestampKinds.join(', ')} or both`);
}

function readLanguage(name: string | undefined): string | undefined {
  if (name === undefined || name.trim().toLowerCase() === 'auto') return undefined;
  const language = toLanguage(name);
  if (language !== null) return language;
  const detail = `Unknown language "${name}"; send an ISO 639-1 code such as de, or no language.`;
  throw new ProblemError('language-not-supported', detail, inBody('/language', 'must be a language'));
}

/** Unlike `language`, these are a hint: an unknown code has no effect. */
function readLanguages(fields: FormFields): { readonly languages: readonly string[]; readonly unknown: boolean } {
  const codes = given(fields, 'languages').map(toLanguage);
  const known = codes.filter((code) => code !== null);
  return { languages: [...new Set(known)], unknown: known.length < codes.length };
}

const maxSpeakers = 4;
const maxSpeakerName = 64;

/** Rules about both fields are checked only if the form is `complete`. */
function readKnownSpeakers(fields: FormFields, { complete }: { complete: boolean }): readonly KnownSpeaker[] {
  const names = given(fields, 'known_speaker_names');
  const references = given(fields, 'known_speaker_references');
  if (names.length > maxSpeakers || names.some((name) => Array.from(name).length > maxSpeakerName)) {
    const rule = `must be at most ${maxSpeakers} names of at most ${maxSpeakerName} characters`;
    throw invalid('body', '/known_speaker_names', rule);
  }
  if (references.some((reference) => !/^data:[^,]{0,100},./.test(reference)))
    throw invalid('body', '/known_speaker_references', 'must be data URLs');
  if (complete && names.length !== references.length)
    throw invalid('body', '/known_speaker_references', 'must be one for each of known_speaker_names');
  return names.map((name, index) => ({ name, reference: references[index] ?? '' }));
}

function readTemperature(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const temperature = value.trim() === '' ? NaN : Number(value);
  if (temperature >= 0 && temperature <= 1) return temperature;
  throw invalid('body', '/temperature', 'must be a number from 0 to 1');
}

/** Reads the form fields that accompany a recording. */
import { timestampKinds, type Feature, type TimestampKind } from '../../engines/contract/index.ts';
import { FormReader, isFalse } from '../contract/form-reader.ts';
import type { FormFields } from '../contract/operations.ts';
import { invalid } from '../contract/problems.ts';
import type { CueShape } from '../transcription/cues.ts';
import { arePaired, fromForm, type TranscriptionParameters } from '../transcription/parameters.ts';
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
  readonly parameters: TranscriptionParameters;
  /** Features that the response requires, each with the field that requests it. */
  readonly required: Readonly<Partial<Record<Feature, string>>>;
  readonly format: Format;
  readonly stream: boolean;
  /** Line limits for srt and vtt; undefined means one cue per segment. */
  readonly shape: CueShape | undefined;
  /** Names of the fields in the request that are ignored, entirely or in part, whatever the model. */
  readonly ignored: ReadonlySet<string>;
}

const hintNames = fieldsWith('createTranscription', 'ignored');

/** Fields that are rejected because they would change the answer. Apps send false for fields that are turned off. */
const refusedNames = [...fieldsWith('createTranscription', 'refused'), 'diarize'];

/**
 * Throws `invalid-request`, `language-not-supported` and `parameter-not-supported`. Rules that involve two fields are
 * checked only if the form is `complete`, because the other field may still follow.
 */
export function readTranscriptionFields(
  fields: FormFields,
  { complete }: { complete: boolean },
): RequestedTranscription {
  const form = new FormReader(fields);
  for (const name of refusedNames)
    if (form.all(name).some((value) => !isFalse(value))) throw unsupportedParameter(`/${name}`);
  const format = readFormat(formats, form.last('response_format'));
  const granularities = readGranularities(form.all('timestamp_granularities'));
  const stream = form.flag('stream');
  if (complete && granularities && format !== 'verbose_json') {
    throw invalid('body', '/timestamp_granularities', 'needs the response_format verbose_json');
  }
  const shape = readShape(form);
  const isSubtitles = format === 'srt' || format === 'vtt';
  if (complete && shape && !isSubtitles) {
    const name = form.has('max_line_width') ? 'max_line_width' : 'max_line_count';
    throw invalid('body', `/${name}`, 'needs the response_format srt or vtt');
  }
  if (complete && stream && !streamable.has(format)) {
    throw invalid('body', '/stream', `is not possible with the response_format ${format}`);
  }
  const asked = fromForm(form);
  if (complete && asked.knownSpeakers && format !== 'diarized_json') {
    throw invalid('body', '/known_speaker_names', 'needs the response_format diarized_json');
  }
  if (complete && !arePaired(asked.knownSpeakers)) {
    throw invalid('body', '/known_speaker_references', 'must be one for each of known_speaker_names');
  }
  for (const name of hintNames) if (form.has(name)) form.ignored.add(name);
  const timestamps =
    granularities ?? (timedFormats.has(format) ? [shape ? ('word' as const) : ('segment' as const)] : []);
  return {
    task: 'transcribe',
    model: form.last('model'),
    parameters: {
      ...asked,
      ...(timestamps.length > 0 && { timestamps }),
      ...(format === 'diarized_json' && { diarize: true }),
    },
    required: {
      ...(isSubtitles && { segment: '/response_format' }),
      ...(format === 'diarized_json' && { diarize: '/response_format' }),
      ...(granularities?.includes('word') && { word: '/timestamp_granularities' }),
      ...(shape && { word: '/max_line_width' }),
    },
    ...{ format, stream, shape, ignored: form.ignored },
  };
}

/** The words of a translation have no timestamps, because they were not spoken. */
const notForTranslations = fieldsWith('createTranslation', 'refused');

export type RequestedTranslation = RequestedTranscription & { readonly format: PlainFormat };

/** Throws the same errors as `readTranscriptionFields`. */
export function readTranslationFields(fields: FormFields, { complete }: { complete: boolean }): RequestedTranslation {
  const form = new FormReader(fields);
  for (const name of notForTranslations) if (form.has(name)) throw unsupportedParameter(`/${name}`);
  const format = readFormat(plainFormats, form.last('response_format'));
  const { parameters, required, ...requested } = readTranscriptionFields(fields, { complete });
  return {
    ...{ ...requested, format, task: 'translate', parameters: { ...parameters, translate: true } },
    required: { translate: '/model', ...required },
  };
}

const streamable: ReadonlySet<Format> = new Set(['json', 'text', 'diarized_json']);
const timedFormats: ReadonlySet<Format> = new Set(['srt', 'vtt', 'verbose_json']);

/** Default line limits of subtitles. */
const defaultShape: CueShape = { width: 42, lines: 2 };

function readShape(form: FormReader): CueShape | undefined {
  const width = form.integer('max_line_width', 10, 200);
  const lines = form.integer('max_line_count', 1, 10);
  if (width === undefined && lines === undefined) return undefined;
  return { width: width ?? defaultShape.width, lines: lines ?? defaultShape.lines };
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

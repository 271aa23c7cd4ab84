/** Maps error responses about the recording or its parameters to errors, mostly by their message. */
import { EngineError, type EngineErrorCode, type TimestampKind } from '../contract/index.ts';
import type { Refusal } from '../lib/provider/failures.ts';
import type { ResponseFormat } from './models.ts';

/** The model does not support the requested response format. */
export class FormatRefused extends Error {
  override readonly name = 'FormatRefused';
}

/** The provider rejects a value of `languages[]`. */
export class LanguagesRefused extends Error {
  override readonly name = 'LanguagesRefused';
}

export function timesNotSupported(model: string, cause?: Error): EngineError {
  return new EngineError('format-not-supported', `The model ${model} does not support these timestamps.`, { cause });
}

interface Meaning {
  readonly code: EngineErrorCode;
  readonly message: string;
  readonly applies: (refusal: Refusal) => boolean;
}

const says = (pattern: RegExp) => (refusal: Refusal) => pattern.test(refusal.message);

/** The first match wins. */
const meanings: readonly Meaning[] = [
  {
    code: 'recording-too-large',
    message: 'The provider rejected the recording: too large.',
    applies: (refusal) =>
      refusal.status === 413 ||
      /(too large|size limit|content size|maximum.{0,20} size|exceeds.{0,30}\b[km]b)/i.test(refusal.message),
  },
  {
    code: 'recording-too-long',
    message: 'The provider rejected the recording: too long.',
    applies: says(/too long|longer than|exceeds.{0,30}(duration|seconds|minutes)|maximum.{0,20}duration/i),
  },
  {
    code: 'recording-empty',
    message: 'The provider rejected the recording: empty or too short.',
    applies: says(
      /too.?short|minimum.{0,20}(audio|length|duration)|(file|audio|recording).{0,30}\bempty\b|\bempty\b.{0,20}(file|audio)|no audio/i,
    ),
  },
  {
    code: 'language-not-supported',
    message: 'The model does not support this language.',
    applies: (refusal) =>
      refusal.param === 'language' ||
      /language.{0,60}(invalid|unknown|not (a )?(valid|supported|available))|(invalid|unsupported|unknown) language|\["?body"?, ?"language"/i.test(
        refusal.message,
      ),
  },
  {
    code: 'recording-undecodable',
    message: 'The provider rejected the recording: it could not be decoded.',
    applies: (refusal) =>
      refusal.status === 415 ||
      /decod|corrupt|(invalid|unsupported|unrecogni[sz]ed).{0,20}(file|format|audio|media)|(file|audio|media).{0,30}(format|type).{0,30}(invalid|not supported|unsupported)|not a valid (audio|media)|could not (process|be (read|processed|decoded|parsed))|failed to (load|read|process|parse|open).{0,10} (audio|file|media)|ffmpeg/i.test(
        refusal.message,
      ),
  },
];

const rejectionStatuses = new Set([400, 413, 415, 422]);

export interface Asked {
  readonly model: string;
  readonly format: ResponseFormat;
  readonly timestamps: readonly TimestampKind[];
  /** Whether the form has `languages[]`. */
  readonly hasLanguages: boolean;
}

/** Returns undefined to fall back to the table of lib/provider/failures.ts. */
export function explainRefusal(refusal: Refusal, asked: Asked, cause: Error): Error | undefined {
  if (!rejectionStatuses.has(refusal.status)) return undefined;
  const { format, timestamps, model, hasLanguages } = asked;
  // This says nothing about verbose_json: a model may support timestamps of segments only.
  if (timestamps.length > 0 && isAboutTimes(refusal)) return timesNotSupported(model, cause);
  if (isAboutFormat(refusal, format))
    return new FormatRefused(`the provider rejects the response format ${format}`, { cause });
  const meaning = meanings.find(({ applies }) => applies(refusal));
  if (hasLanguages && (isAboutLanguages(refusal) || meaning?.code === 'language-not-supported'))
    return new LanguagesRefused('the provider rejects the languages', { cause });
  return meaning && new EngineError(meaning.code, meaning.message, { cause });
}

function isAboutTimes({ param, message }: Refusal): boolean {
  return param.startsWith('timestamp_granularities') || /timestamp.?granularit/i.test(message);
}

function isAboutLanguages({ param, message }: Refusal): boolean {
  return param.startsWith('languages') || (param === '' && /\blanguages\b/i.test(message));
}

function isAboutFormat({ param, text }: Refusal, format: ResponseFormat): boolean {
  return (
    param === 'response_format' ||
    /response.?format/i.test(text) ||
    (format === 'verbose_json' && text.includes(format))
  );
}

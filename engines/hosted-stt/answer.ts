/** Parses transcription responses, whose fields differ between providers. */
import { EngineError } from '../contract/index.ts';
import { isObject, parseObject } from '../../lib/json.ts';
import { badResponse, unexpected } from '../lib/provider/failures.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { toIsoLanguage } from '../../lib/languages.ts';
import { noTimes, readTimes, toOneLine, type AskedTimes, type Times } from './times.ts';

export interface ProviderTranscript {
  readonly text: string;
  readonly language: string | null;
  readonly durationMs: number | undefined;
  /** Billed duration, often rounded up. */
  readonly billedMs: number | undefined;
  /** Contains only the kinds that were requested. */
  readonly times: Times;
}

/** Throws `provider-bad-response`, or `provider-error` if the body is an error despite its status. */
export function readAnswer(
  body: string,
  asked: AskedTimes,
  { redact, outline }: Pick<Provider, 'redact' | 'outline'>,
): ProviderTranscript {
  const answer = parseObject(body.replace(/^\ufeff/, ''));
  if (answer === undefined) {
    throw unexpected('The response of the provider is not a JSON object.', body, outline(body));
  }
  if (typeof answer.text !== 'string') {
    if (answer.error === undefined || answer.error === null) {
      throw badResponse('The response of the provider contains no transcript.', outline(body));
    }
    const cause = new Error(`an error with status 200: ${outline(body)}`);
    throw new EngineError('provider-error', 'The provider failed.', { cause });
  }
  const text = toOneLine(answer.text);
  const times = text === '' ? noTimes(asked) : readTimes(answer, asked);
  if (times === undefined) {
    const why = `its fields: ${redact(Object.keys(answer).join(', '))}`;
    throw badResponse('The response of the provider lacks valid timestamps.', why);
  }
  return {
    text,
    // Models report a language for silence too.
    language: text === '' ? null : languageOf(answer),
    durationMs: milliseconds(answer.duration) ?? wholeMilliseconds(answer.duration_ms),
    billedMs: milliseconds(isObject(answer.usage) ? answer.usage.seconds : undefined),
    times,
  };
}

/** Reads `language` or, if absent, the first of `languages`, which are codes or objects with a code. */
function languageOf({ language, languages }: Record<string, unknown>): string | null {
  const first = Array.isArray(languages) ? (languages[0] as unknown) : undefined;
  return toIsoLanguage(language) ?? toIsoLanguage(isObject(first) ? first.code : first);
}

/** Reads the duration in the format of Parlance, for a provider that is another Parlance. */
function wholeMilliseconds(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : undefined;
}

/**
 * Converts seconds, which may be a string, to whole milliseconds. 0 is ignored: a recording of zero length would not be
 * transcribed.
 */
function milliseconds(seconds: unknown): number | undefined {
  const text = typeof seconds === 'number' || typeof seconds === 'string' ? String(seconds).trim() : '';
  const value = text === '' ? NaN : Number(text);
  return Number.isFinite(value) && value > 0 ? Math.round(value * 1000) : undefined;
}

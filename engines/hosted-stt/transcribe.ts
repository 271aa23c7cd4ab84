import {
  EngineError,
  type CallQueue,
  type EngineContext,
  type Recording,
  type Transcript,
  type TranscriptionCall,
} from '../contract/index.ts';
import { linkedSignal } from '../../lib/abort.ts';
import { canLast } from '../../lib/recording/plausible.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { readText } from '../lib/provider/transport.ts';
import { readAnswer, type ProviderTranscript } from './answer.ts';
import { measureDuration } from './duration.ts';
import type { Model, ResponseFormat } from './models.ts';
import { explainRefusal, FormatRefused, LanguagesRefused, timesNotSupported } from './refusals.ts';
import { createForm, type Field } from './request.ts';
import { withinDuration } from './times.ts';

/** Enough for a day of speech with a timestamp for every word. */
const maxAnswerBytes = 32 * 2 ** 20;

export interface Dependencies extends Endpoint {
  /** Queue of the threads that measure durations. */
  readonly queue: CallQueue;
}

interface Endpoint {
  readonly provider: Provider;
  /** Path below the provider's baseUrl. */
  readonly path: string;
  readonly log: EngineContext['log'];
}

export async function transcribe(
  call: TranscriptionCall,
  model: Model,
  { queue, ...endpoint }: Dependencies,
  signal: AbortSignal,
): Promise<Transcript> {
  await using measurement = createMeasurement(call.recording, queue, signal);
  if (!model.saysDuration) void measurement.start(); // concurrently with the upload
  const { text, language, times, ...reported } = await requestWithFallback(call, model, endpoint, signal);
  model.saysDuration = reported.durationMs !== undefined;
  const plausible = (ms: number | undefined) => (ms !== undefined && canLast(ms, call.recording) ? ms : undefined);
  const durationMs =
    plausible(reported.durationMs) ?? plausible(await measurement.start()) ?? plausible(reported.billedMs);
  return { text, language, ...(durationMs !== undefined && { durationMs }), ...withinDuration(times, durationMs) };
}

/** Disposing of it cancels a measurement that is no longer needed. */
function createMeasurement(recording: Recording, queue: CallQueue, signal: AbortSignal) {
  const work = linkedSignal(signal);
  let running: Promise<number | undefined> | undefined;
  return {
    /** Starts the measurement once; later calls return the same promise. */
    start(): Promise<number | undefined> {
      running ??= measureDuration(recording, queue, work.signal);
      running.catch(() => undefined); // avoids an unhandled rejection if it fails before it is awaited
      return running;
    },
    async [Symbol.asyncDispose]() {
      work.end(new Error('the duration is no longer needed'));
      await running?.catch(() => undefined);
    },
  };
}

/**
 * Falls back to json if the model rejects verbose_json; later calls then begin with json. Timestamps need verbose_json:
 * throws `format-not-supported` without it.
 */
async function requestWithFallback(
  call: TranscriptionCall,
  model: Model,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<ProviderTranscript> {
  const { timestamps = [], diarize } = call;
  if (diarize) return await requestTurns(call, model, endpoint, signal);
  let format = model.format();
  let refusal: FormatRefused | undefined;
  for (;;) {
    if (timestamps.length > 0 && format !== 'verbose_json') throw timesNotSupported(model.id, refusal);
    try {
      return await request(call, { model, format }, endpoint, signal);
    } catch (error) {
      if (!(error instanceof FormatRefused)) throw error;
      refusal = error;
      const other = model.refused(format);
      if (other === undefined) {
        const message = 'The provider does not support the configured responseFormat.';
        throw new EngineError('provider-misconfigured', message, { cause: error });
      }
      format = other;
    }
  }
}

/** There is no simpler format to fall back to. */
async function requestTurns(
  call: TranscriptionCall,
  model: Model,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<ProviderTranscript> {
  try {
    return await request(call, { model, format: 'diarized_json' }, endpoint, signal);
  } catch (error) {
    if (!(error instanceof FormatRefused)) throw error;
    const message = `The model ${model.id} does not distinguish speakers.`;
    throw new EngineError('format-not-supported', message, { cause: error });
  }
}

/** Repeats the request without the languages if the provider rejects one, because the transcript matters more. */
async function request(
  call: TranscriptionCall,
  asked: { readonly model: Model; readonly format: ResponseFormat },
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<ProviderTranscript> {
  const { model } = asked;
  const languages = call.translate ? undefined : model.languagesFor(call);
  try {
    return await send(call, { ...asked, languages }, endpoint, signal);
  } catch (error) {
    if (!(error instanceof LanguagesRefused)) throw error;
    if (!model.hasWarned) {
      const detail = { err: error, model: model.id };
      endpoint.log.warn(detail, 'the provider rejects a language; the model detects it instead');
    }
    model.hasWarned = true;
    return await send(call, { ...asked, languages: [] }, endpoint, signal);
  }
}

interface Asked {
  readonly model: Model;
  readonly format: ResponseFormat;
  /** The values of `languages[]`. If undefined, the call's language is sent as `language`, except for a translation. */
  readonly languages: readonly string[] | undefined;
}

async function send(
  call: TranscriptionCall,
  { model, format, languages }: Asked,
  { provider, path }: Endpoint,
  signal: AbortSignal,
): Promise<ProviderTranscript> {
  const { recording, timestamps = [], translate } = call;
  const form = createForm(fieldsOf(call, { model, format, languages }), recording);
  const asked = { format, timestamps, model: model.id, hasLanguages: languages !== undefined && languages.length > 0 };
  const answer = await provider.send(
    {
      method: 'POST',
      path: translate ? translationsPath : path,
      model: model.id,
      headers: { 'content-type': form.contentType },
      body: form.body,
      explain: (refusal, cause) => explainRefusal(refusal, asked, cause),
    },
    signal,
  );
  return readAnswer(await readText(answer, maxAnswerBytes, signal), call, provider);
}

const translationsPath = '/audio/translations';

function fieldsOf(call: TranscriptionCall, { model, format, languages }: Asked): Field[] {
  const { prompt, temperature, timestamps = [], keywords = [], translate, diarize, knownSpeakers = [] } = call;
  const language = translate || languages ? undefined : call.language;
  // A translation has neither words nor turns. Its verbose_json contains the timestamps of segments.
  const optional = { language, prompt, temperature };
  const kinds = translate ? [] : timestamps;
  return [
    ['model', model.remoteId],
    ['response_format', format],
    ...Object.entries(optional).flatMap(([name, value]): Field[] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    ...(languages ?? []).map((code): Field => ['languages[]', code]),
    ...kinds.map((kind): Field => ['timestamp_granularities[]', kind]),
    ...keywords.map((keyword): Field => ['keywords[]', keyword]),
    // OpenAI's model requires this field for recordings of more than 30 s.
    ...(diarize ? [['chunking_strategy', 'auto'] as const] : []),
    ...knownSpeakers.map(({ name }): Field => ['known_speaker_names[]', name]),
    ...knownSpeakers.map(({ reference }): Field => ['known_speaker_references[]', reference]),
  ];
}

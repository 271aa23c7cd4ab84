import {
  EngineError,
  type JobQueue,
  type Recording,
  type Transcript,
  type TranscriptionCall,
} from '../contract/index.ts';
import { linkedSignal } from '../../lib/abort.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { readText } from '../lib/provider/transport.ts';
import { readAnswer, type Heard } from './answer.ts';
import { measureDuration } from './duration.ts';
import type { Model, ResponseFormat } from './models.ts';
import { explainRefusal, FormatRefused } from './refusals.ts';
import { createForm } from './request.ts';

/** A day of speech with a time stamp for every word. */
const longestAnswer = 32 * 2 ** 20;

export interface Tools {
  readonly provider: Provider;
  /** Of the operation, behind the provider's baseUrl. */
  readonly path: string;
  /** For the threads that read durations. */
  readonly queue: JobQueue;
}

type Way = Pick<Tools, 'provider' | 'path'>;

export async function transcribe(
  call: TranscriptionCall,
  model: Model,
  { provider, path, queue }: Tools,
  signal: AbortSignal,
): Promise<Transcript> {
  await using measurement = createMeasurement(call.recording, queue, signal);
  if (!model.saysDuration) void measurement.start(); // while the provider is at work
  const { text, language, ...heard } = await askInTheRightFormat(call, model, { provider, path }, signal);
  model.saysDuration = heard.durationMs !== undefined;
  const durationMs = heard.durationMs ?? (await measurement.start()) ?? heard.billedMs;
  return { text, language, ...(durationMs !== undefined && { durationMs }) };
}

interface Measurement extends AsyncDisposable {
  /** The same one, however often it is started. */
  start(): Promise<number | undefined>;
}

/** Disposing of it ends a measurement that nobody waits for any more. */
function createMeasurement(recording: Recording, queue: JobQueue, signal: AbortSignal): Measurement {
  const work = linkedSignal(signal);
  let running: Promise<number | undefined> | undefined;
  return {
    start() {
      running ??= measureDuration(recording, queue, work.signal);
      running.catch(() => undefined); // it may fail before somebody waits for it
      return running;
    },
    async [Symbol.asyncDispose]() {
      work[Symbol.dispose]();
      work.abort(new Error('nobody waits for the duration'));
      await running?.catch(() => undefined);
    },
  };
}

/** A model that cannot give the fuller answer says so once, and is then asked for the plain one. */
async function askInTheRightFormat(
  call: TranscriptionCall,
  model: Model,
  way: Way,
  signal: AbortSignal,
): Promise<Heard> {
  let format = model.format();
  for (;;) {
    try {
      return await ask(call, { model, format }, way, signal);
    } catch (error) {
      if (!(error instanceof FormatRefused)) throw error;
      const other = model.refused(format);
      if (other === undefined) {
        const message = 'The provider does not know the response format of the settings.';
        throw new EngineError('provider-misconfigured', message, { cause: error });
      }
      format = other;
    }
  }
}

async function ask(
  { recording, language }: TranscriptionCall,
  { model, format }: { readonly model: Model; readonly format: ResponseFormat },
  { provider, path }: Way,
  signal: AbortSignal,
): Promise<Heard> {
  const fields = { model: model.remoteId, response_format: format, ...(language !== undefined && { language }) };
  const form = createForm(fields, recording);
  const answer = await provider.send(
    {
      method: 'POST',
      path,
      model: model.id,
      headers: { 'content-type': form.contentType },
      body: form.body,
      explain: (refusal, cause) => explainRefusal(refusal, format, cause),
    },
    signal,
  );
  return readAnswer(await readText(answer, longestAnswer, signal), provider.redact);
}

/** A service whose engine is sherpa-stt, with models made by hand and the real library. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Availability, TranscriptionEngine } from '../../../engines/contract/index.ts';
import { upload, type TranscriptionAnswer } from '../../support/local-service.ts';
import { processesWith } from '../../support/processes.ts';
import { writeFamily, type FamilyOptions, type Shape } from '../../support/recognizer-families.ts';
import { writeRecognizer, type RecognizerOptions } from '../../support/recognizer-model.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { tonePcm, wav, type Word } from '../../support/tone-model.ts';

/** With a `shape`, a model of another family than NeMo CTC. */
type ModelToWrite = ((FamilyOptions & { readonly shape: Shape }) | RecognizerOptions) & { readonly language?: string };

export interface StartOptions {
  /** By id: a model to write, or the folder of one. */
  readonly models?: Readonly<Record<string, ModelToWrite | string>>;
  /** More options of the engine. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** More engines. */
  readonly others?: Readonly<Record<string, unknown>>;
}

export interface Recognizers {
  readonly service: TestService;
  readonly engine: TranscriptionEngine;
  availability(model: string): Availability | undefined;
  /** Sends a recording; the fields are those of the form. Default model: the first. */
  transcribe(
    recording: Uint8Array,
    fields?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<TranscriptionAnswer>;
  /** Process ids of the programs that have a model in memory. */
  programs(): string[];
}

/** Disposed at the end of the test. */
export async function startRecognizers(start: StartOptions = {}): Promise<Recognizers> {
  const { models = { letters: {} }, options = {}, env = {}, others = {} } = start;
  const directory = await temporaryDirectory();
  const list = await Promise.all(
    Object.entries(models).map(async ([id, model]) => {
      if (typeof model === 'string') return { id, folder: model };
      const { language, ...rest } = model;
      const folder = join(directory, id);
      await ('shape' in rest ? writeFamily(folder, rest.shape, rest) : writeRecognizer(folder, rest));
      return { id, folder, ...(language && { language }) };
    }),
  );
  const engines = { stt: { use: 'sherpa-stt', models: list, ...options }, ...others };
  const service = await startTestService({ env, config: JSON.stringify({ engines }) });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const served = service.service.registry.of('transcription');
  const [first = ''] = Object.keys(models);
  return {
    service,
    engine: served.all[0]!.engine,
    availability: (model) => served.find(model)?.availability,
    async transcribe(recording, fields = {}, signal) {
      const answer = await upload(service, recording, {
        fields: { model: first, ...fields },
        ...(signal && { signal }),
      });
      return { status: answer.status, ...((await answer.json()) as object) };
    },
    programs: () => processesWith(directory),
  };
}

/** Samples at 16 kHz as a recording. */
export const recordingOf = (samples: Int16Array): Buffer => wav(samples, { rate: 16_000, channels: 1 });

/** Of 75 s. */
export function longRecording(words: readonly Word[]): Buffer {
  const samples = Array.from(tonePcm({ words, rate: 16_000, tailSeconds: 0.5 }));
  const times = Math.ceil((75 * 16_000) / samples.length);
  return recordingOf(Int16Array.from(Array.from({ length: times }, () => samples).flat()));
}

/** POST /v1/audio/translations: a recording in any language, its transcript in English. */
import { requireAvailable } from '../engine-host/model-selection.ts';
import type { FormFields } from '../contract/operations.ts';
import type { Services } from '../handlers/dependencies.ts';
import { transcribe } from '../transcription/run.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import { answer, type Handler } from './operations.ts';
import { toPlainFormat } from './transcript-formats.ts';
import { expectRecording } from './transcription.ts';
import { readTranslationFields } from './transcription-fields.ts';
import { toJob } from './transcription-job.ts';

/** As for a transcription. */
export async function checkTranslationFields(fields: FormFields, services: Services): Promise<void> {
  await expectRecording(readTranslationFields(fields, { complete: false }), services);
}

export const createTranslation: Handler<'createTranslation', Services> = async (
  { body: { file: recording, ...fields }, signal },
  services,
) => {
  const wish = readTranslationFields(fields, { complete: true });
  const model = await resolveModel(services, 'transcription', wish.model);
  const { ignored, ...options } = toJob(model, wish);
  await requireAvailable(model);
  const transcript = await transcribe(model, { ...options, recording }, { signal }, services);
  const headers = { ...modelHeader(model), ...ignoredHeader(ignored) };
  return answer({ status: 200, headers, ...toPlainFormat(wish.format, transcript, wish.task) });
};

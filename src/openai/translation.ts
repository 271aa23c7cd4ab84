/** POST /v1/audio/translations: a recording in any language, its transcript in English. */
import { answer, type FormFields } from '../contract/operations.ts';
import type { Services } from '../handlers/dependencies.ts';
import { transcribe } from '../transcription/run.ts';
import type { Handler } from './operations.ts';
import { toPlainFormat } from './transcript-formats.ts';
import { readTranslationFields } from './transcription-fields.ts';
import { expectRecording, openJob } from './transcription-job.ts';

/** As for a transcription. */
export async function checkTranslationFields(fields: FormFields, services: Services): Promise<void> {
  await expectRecording(readTranslationFields(fields, { complete: false }), services);
}

export const createTranslation: Handler<'createTranslation', Services> = async (
  { body: { file: recording, ...fields }, signal },
  services,
) => {
  const wish = readTranslationFields(fields, { complete: true });
  const { model, options, headers } = await openJob(wish, services);
  const transcript = await transcribe(model, { ...options, recording }, { signal }, services);
  return answer({ status: 200, headers, ...toPlainFormat(wish.format, transcript, wish.task) });
};

import type { Availability } from '../../engines/contract/index.ts';
import { availabilityOf } from '../engine-host/registry.ts';
import { listModels, toEntry } from '../engine-host/model-selection.ts';
import { answer, type Handler } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { chooseTranscriptionModel, transcribe } from '../transcription/run.ts';
import type { Services } from './dependencies.ts';

const disabled: Availability = {
  available: false,
  code: 'disabled',
  reason: 'Transcription is switched off (TRANSCRIBE_ENABLED=false).',
};

/** Before the body is read, so that callers do not upload 25 MB to a service that is switched off. */
export function admitTranscription({ transcribeEnabled }: Services): void {
  if (!transcribeEnabled) throw new ProblemError('transcription-disabled', disabled.reason);
}

export const createTranscription: Handler<'createTranscription', Services> = async ({ body, signal }, services) => {
  const { file: recording, model: named, language: wanted } = body;
  const model = await chooseTranscriptionModel(services, named);
  const job = { recording, language: wanted };
  const { text, language, durationMs } = await transcribe(model, job, { signal }, services);
  const length = durationMs === undefined ? {} : { duration_ms: Math.round(durationMs) };
  return answer({ status: 200, mediaType: 'application/json', body: { text, language, ...length, model: model.id } });
};

export const getTranscriptionAvailability: Handler<'getTranscriptionAvailability', Services> = async (
  { query },
  { registry, transcribeEnabled },
) => {
  const { models, default: defaultModel } = await listModels(registry, 'transcription');
  const model = query.model === undefined ? defaultModel : models.find(({ id }) => id === query.model);
  const { available, code, reason } = await probe();
  return answer({
    status: 200,
    mediaType: 'application/json',
    body: { available, code, reason, model: query.model ?? defaultModel?.id ?? '' },
  });

  async function probe(): Promise<Availability> {
    if (!transcribeEnabled) return disabled;
    if (model) return availabilityOf(model);
    if (models.length === 0) {
      return { available: false, code: 'no-model', reason: 'No transcription engine is configured.' };
    }
    const known = models.map(({ id }) => id).join(', ');
    return {
      available: false,
      code: 'unknown-model',
      reason: `Unknown transcription model; known: ${known}.`,
    };
  }
};

export const listTranscriptionModels: Handler<'listTranscriptionModels', Services> = async (
  _request,
  { registry, transcribeEnabled },
) => {
  const { models, default: defaultModel } = await listModels(registry, 'transcription');
  const data = await Promise.all(models.map((model) => toEntry(model, transcribeEnabled ? undefined : disabled)));
  return answer({ status: 200, mediaType: 'application/json', body: { data, default: defaultModel?.id ?? null } });
};

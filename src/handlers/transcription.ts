import type { Availability } from '../../engines/contract/index.ts';
import { availabilityOf } from '../engine-host/registry/served-models.ts';
import { defaultModel, listModels, toAvailability, toEntry } from '../engine-host/registry/model-selection.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import { answer, type FormFields, type Handler, type OperationRequest } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { allowedModels, requireModel } from '../keys/permissions.ts';
import { chooseTranscriptionModel, requireFeatures, transcribe, warmUp } from '../transcription/run.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { wantedFeatures, isTimestamps, toTranscription } from '../transcription/wire.ts';
import type { Services } from './dependencies.ts';

const disabled: Availability = {
  available: false,
  code: 'disabled',
  reason: 'Transcription is switched off (TRANSCRIBE_ENABLED=false).',
};

/** Before the body is read, so that callers do not upload 25 MB to a service that is switched off. */
export function requireTranscription({ transcribeEnabled }: Services): void {
  if (!transcribeEnabled) throw new ProblemError('transcription-disabled', disabled.reason);
}

/**
 * Before the recording is stored, with the text fields that precede it in the form, not yet validated. Throws
 * `model-not-allowed` and `parameter-not-supported`; everything else is reported after validation. Without `model`, which
 * may follow, it is expected to be the default.
 */
export async function checkRecordingFields(fields: FormFields, { registry }: Services): Promise<void> {
  const { timestamps, task, model: named } = fields;
  if (typeof named !== 'string') {
    const usual = await defaultModel(registry, 'transcription');
    if (usual) warmUp(usual);
    return;
  }
  const models = allowedModels(await registry.models('transcription'));
  const ids = models.map(({ id }) => id);
  requireModel(named, ids, '/model');
  const model = models.find(({ id }) => id === named);
  if (!model) return;
  requireFeatures(
    model,
    wantedFeatures({
      ...(isTimestamps(timestamps) && { timestamps }),
      ...(task === 'translate' && { task }),
    }),
  );
  warmUp(model);
}

type TranscriptionRequest = OperationRequest<'createTranscription' | 'streamTranscription'>;

async function prepare({ body }: TranscriptionRequest, services: Services) {
  const { file: recording, model: named, language } = body;
  const wanted = wantedFeatures(body);
  const model = await chooseTranscriptionModel(services, named, wanted);
  return { model, job: { recording, language, ...wanted } };
}

export const createTranscription: Handler<'createTranscription', Services> = async (request, services) => {
  const { model, job } = await prepare(request, services);
  const transcript = await transcribe(model, job, { signal: request.signal }, services);
  return answer({ status: 200, mediaType: 'application/json', body: toTranscription(transcript, model.id) });
};

export const streamTranscription: Handler<'streamTranscription', Services> = async (request, services) => {
  const { model, job } = await prepare(request, services);
  const events = streamTranscript(model, job, request, services);
  return answer({
    status: 200,
    mediaType: 'text/event-stream',
    body: await delayStart(events, services.streamHoldMs, isFromEngine),
  });
};

export const getTranscriptionAvailability: Handler<'getTranscriptionAvailability', Services> = async (
  { query },
  { registry, transcribeEnabled },
) => {
  const models = allowedModels(await registry.models('transcription'));
  const { model: named } = query;
  const model =
    named === undefined ? await defaultModel(registry, 'transcription') : models.find(({ id }) => id === named);
  return answer({
    status: 200,
    mediaType: 'application/json',
    body: { ...toAvailability(await probe()), model: named ?? model?.id ?? '' },
  });

  async function probe(): Promise<Availability> {
    if (!transcribeEnabled) return disabled;
    if (model) return availabilityOf(model);
    if (models.length === 0) {
      const isWithheld = (await registry.models('transcription')).length > 0;
      const reason = isWithheld ? 'The API key may not use a transcription model.' : 'No transcription engine is configured.'; // prettier-ignore
      return { available: false, code: 'no-model', reason };
    }
    const reason = `Unknown transcription model; known: ${models.map(({ id }) => id).join(', ')}.`;
    return { available: false, code: 'unknown-model', reason };
  }
};

export const listTranscriptionModels: Handler<'listTranscriptionModels', Services> = async (
  _request,
  { registry, transcribeEnabled },
) => {
  const { models, default: usual } = await listModels(registry, 'transcription');
  const data = await Promise.all(models.map((model) => toEntry(model, transcribeEnabled ? undefined : disabled)));
  return answer({ status: 200, mediaType: 'application/json', body: { data, default: usual?.id ?? null } });
};

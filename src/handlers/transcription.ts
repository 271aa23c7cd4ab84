import type { Availability } from '../../engines/contract/index.ts';
import {
  defaultModel,
  findModel,
  listModels,
  toAvailability,
  toEntry,
  toList,
} from '../engine-host/models/model-selection.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import { answer, type FormFields, type Handler, type OperationRequest } from '../contract/operations.ts';
import { allowedModels, requireModel } from '../keys/permissions.ts';
import { fit } from '../transcription/fit.ts';
import { fromApi } from '../transcription/parameters.ts';
import { chooseTranscriptionModel, disabled, warmUp } from '../transcription/run.ts';
import { transcribeRequest } from '../transcription/speakers/index.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { toTranscription } from '../transcription/wire.ts';
import type { Services } from './dependencies.ts';

/**
 * Checks the text fields that precede the recording, before the recording is stored and before the fields are
 * validated. Throws `model-not-allowed` and `parameter-not-supported`; everything else is reported after validation.
 * Also warms up the model: the default if `model` is missing, although the field may still follow.
 */
export function checkRecordingFields(fields: FormFields, { registry }: Services): void {
  const { model: named } = fields;
  if (typeof named !== 'string') {
    const defaultEntry = defaultModel(registry, 'transcription');
    if (defaultEntry) warmUp(defaultEntry);
    return;
  }
  const model = findModel(registry, 'transcription', named);
  if (!model) {
    const ids = allowedModels(registry.of('transcription').all).map(({ id }) => id);
    return requireModel(named, ids, '/model');
  }
  fit(model, fromApi(fields), 'api');
  warmUp(model);
}

function prepare({ body }: OperationRequest<'createTranscription' | 'streamTranscription'>, services: Services) {
  const { model, call } = chooseTranscriptionModel(services, body.model, fromApi(body));
  return { model, asked: { ...call, recording: body.file } };
}

export const createTranscription: Handler<'createTranscription', Services> = async (request, services) => {
  const { model, asked } = prepare(request, services);
  const transcript = await transcribeRequest(model, asked, { signal: request.signal }, services);
  return answer({ status: 200, mediaType: 'application/json', body: toTranscription(transcript, model.id) });
};

export const streamTranscription: Handler<'streamTranscription', Services> = async (request, services) => {
  const { model, asked } = prepare(request, services);
  const events = streamTranscript(model, (options) => transcribeRequest(model, asked, options, services), request);
  return answer({
    status: 200,
    mediaType: 'text/event-stream',
    body: await delayStart(events, services.streamHoldMs, isFromEngine),
  });
};

export const getTranscriptionAvailability: Handler<'getTranscriptionAvailability', Services> = (
  { query: { model: named } },
  { registry, transcribeEnabled },
) => {
  const model =
    named === undefined ? defaultModel(registry, 'transcription') : findModel(registry, 'transcription', named);
  const body = { ...toAvailability(probe()), model: named ?? model?.id ?? '' };
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body }));

  function probe(): Availability {
    if (!transcribeEnabled) return disabled;
    if (model) return model.availability;
    const { all } = registry.of('transcription');
    const models = allowedModels(all);
    if (models.length === 0) {
      const isWithheld = all.length > 0;
      const reason = isWithheld
        ? 'The API key may not use a transcription model.'
        : 'No transcription engine is configured.';
      return { available: false, code: 'no-model', reason };
    }
    const reason = `Unknown transcription model; known: ${models.map(({ id }) => id).join(', ')}.`;
    return { available: false, code: 'unknown-model', reason };
  }
};

export const listTranscriptionModels: Handler<'listTranscriptionModels', Services> = (
  _request,
  { registry, transcribeEnabled },
) => {
  const listing = listModels(registry, 'transcription');
  const data = listing.models.map((model) => toEntry(model, transcribeEnabled ? undefined : disabled));
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body: toList(listing, data) }));
};

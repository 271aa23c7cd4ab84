/**
 * POST /v1/audio/transcriptions and /v1/audio/translations: the form that apps send, the response formats, and
 * streaming.
 */
import type { Feature } from '../../engines/contract/index.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import { answer, type FormFields } from '../contract/operations.ts';
import { defaultModel, requireAvailable, requireSupport } from '../engine-host/models/model-selection.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import type { Services } from '../handlers/dependencies.ts';
import { requireOperation } from '../keys/permissions.ts';
import { toCues } from '../transcription/cues.ts';
import { fit, type Fitted } from '../transcription/fit.ts';
import { openaiFieldOf } from '../transcription/parameters.ts';
import { transcribe, warmUp } from '../transcription/run.ts';
import { transcribeRequest } from '../transcription/speakers/index.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import type { Handler } from './operations.ts';
import { toDeltas } from './transcript-deltas.ts';
import { toFormat, toPlainFormat } from './transcript-formats.ts';
import { readTranscriptionFields, readTranslationFields, type RequestedTranscription } from './transcription-fields.ts';

/**
 * Checks the fields that precede the recording, before the recording is stored. Throws for an invalid value, and for a
 * named model that lacks a requested feature. Other fields may follow the recording.
 */
export function checkRecordingFields(fields: FormFields, services: Services): void {
  const requested = readTranscriptionFields(fields, { complete: false });
  if (fields.stream !== undefined) requireOperation(operationOf(requested));
  expectRecording(requested, services);
}

export const createTranscription: Handler<'createTranscription', Services> = async (
  { id, body: { file: recording, ...fields }, signal },
  services,
) => {
  const requested = readTranscriptionFields(fields, { complete: true });
  requireOperation(operationOf(requested));
  const { model, call, headers } = openCall(requested, services);
  const asked = { ...call, recording };
  if (requested.stream) {
    const events = await delayStart(
      streamTranscript(model, (options) => transcribeRequest(model, asked, options, services), { id, signal }),
      services.streamHoldMs,
      isFromEngine,
    );
    return answer({ status: 200, mediaType: 'text/event-stream', headers, body: toDeltas(events) });
  }
  const transcript = await transcribeRequest(model, asked, { signal }, services);
  const shaped = requested.shape ? { ...transcript, segments: toCues(transcript, requested.shape) } : transcript;
  return answer({ status: 200, headers, ...toFormat(requested.format, shaped) });
};

function operationOf({ stream }: RequestedTranscription) {
  return stream ? 'streamTranscription' : 'createTranscription';
}

/** Like `checkRecordingFields`, but for translations. */
export function checkTranslationFields(fields: FormFields, services: Services): void {
  expectRecording(readTranslationFields(fields, { complete: false }), services);
}

/** Transcribes a recording in any language to English text. */
export const createTranslation: Handler<'createTranslation', Services> = async (
  { body: { file: recording, ...fields }, signal },
  services,
) => {
  const requested = readTranslationFields(fields, { complete: true });
  const { model, call, headers } = openCall(requested, services);
  const transcript = await transcribe(model, { ...call, recording }, { signal }, services);
  return answer({ status: 200, headers, ...toPlainFormat(requested.format, transcript, requested.task) });
};

/**
 * Throws if a named model lacks a requested feature, and warms up the model before the recording arrives: if no model
 * is named, the default, although a later field may still name another one.
 */
function expectRecording(requested: RequestedTranscription, services: Services): void {
  const { model: named } = requested;
  if (named === undefined) {
    const model = defaultModel(services.registry, 'transcription');
    return model && warmUp(model);
  }
  const model = resolveModel(services, 'transcription', named);
  fitForm(model, requested);
  warmUp(model);
}

/** Returns the model of a form, the parameters for the engine, and the response headers. */
function openCall(requested: RequestedTranscription, services: Services) {
  const model = resolveModel(services, 'transcription', requested.model);
  const { call, ignored } = fitForm(model, requested);
  requireAvailable(model, services.registry.of('transcription'));
  const names = new Set([...ignored.map(openaiFieldOf), ...requested.ignored]);
  return { model, call, headers: { ...modelHeader(model), ...ignoredHeader([...names]) } };
}

/** Throws `parameter-not-supported` for unsupported parameters that would change the answer. */
function fitForm(model: ServedModel<'transcription'>, { parameters, required }: RequestedTranscription): Fitted {
  for (const [feature, pointer] of Object.entries(required)) requireSupport(model, feature as Feature, pointer);
  return fit(model, parameters, 'openai');
}

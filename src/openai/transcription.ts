/** POST /v1/audio/transcriptions: the form as apps send it, the formats, the stream. */
import type { FormFields } from '../contract/operations.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import { defaultModel, requireAvailable } from '../engine-host/model-selection.ts';
import type { Services } from '../handlers/dependencies.ts';
import { transcribe, warmUp } from '../transcription/run.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { requireOperation } from '../keys/permissions.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import { answer, type Handler } from './operations.ts';
import { toCues } from '../transcription/cues.ts';
import { toDeltas } from './transcript-deltas.ts';
import { toFormat } from './transcript-formats.ts';
import { readTranscriptionFields, type TranscriptionWish } from './transcription-fields.ts';
import { toJob } from './transcription-job.ts';

/**
 * Checks the fields that precede the recording, before it is stored. Throws for a wrong value, and for a named model that
 * lacks a feature. Other fields may follow the recording.
 */
export async function checkRecordingFields(fields: FormFields, services: Services): Promise<void> {
  const wish = readTranscriptionFields(fields, { complete: false });
  if (fields.stream !== undefined) requireOperation(operationOf(wish));
  await expectRecording(wish, services);
}

/** Throws for a named model that lacks a feature, and lets the model that is to hear the recording get ready. */
export async function expectRecording(wish: TranscriptionWish, services: Services): Promise<void> {
  const model = await expectedModel(services, wish.model);
  if (model === undefined) return;
  if (wish.model !== undefined) toJob(model, wish);
  warmUp(model);
}

/** A model that is not named yet may follow the recording. */
function expectedModel(services: Services, named: string | undefined) {
  if (named === undefined) return defaultModel(services.registry, 'transcription');
  return resolveModel(services, 'transcription', named);
}

export const createTranscription: Handler<'createTranscription', Services> = async (
  { id, body: { file: recording, ...fields }, signal },
  services,
) => {
  const wish = readTranscriptionFields(fields, { complete: true });
  requireOperation(operationOf(wish));
  const model = await resolveModel(services, 'transcription', wish.model);
  const { ignored, ...options } = toJob(model, wish);
  await requireAvailable(model);
  const job = { ...options, recording };
  const headers = { ...modelHeader(model), ...ignoredHeader(ignored) };
  if (wish.stream) {
    const events = await delayStart(
      streamTranscript(model, job, { id, signal }, services),
      services.streamHoldMs,
      isFromEngine,
    );
    return answer({ status: 200, mediaType: 'text/event-stream', headers, body: toDeltas(events) });
  }
  const transcript = await transcribe(model, job, { signal }, services);
  const shaped = wish.shape ? { ...transcript, segments: toCues(transcript, wish.shape) } : transcript;
  return answer({ status: 200, headers, ...toFormat(wish.format, shaped) });
};

function operationOf({ stream }: TranscriptionWish) {
  return stream ? 'streamTranscription' : 'createTranscription';
}

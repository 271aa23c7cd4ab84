/** POST /v1/audio/transcriptions and /v1/audio/translations: the form as apps send it, the formats, the stream. */
import { answer, type FormFields } from '../contract/operations.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import type { Services } from '../handlers/dependencies.ts';
import { transcribe } from '../transcription/run.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { requireOperation } from '../keys/permissions.ts';
import type { Handler } from './operations.ts';
import { toCues } from '../transcription/cues.ts';
import { toDeltas } from './transcript-deltas.ts';
import { toFormat, toPlainFormat } from './transcript-formats.ts';
import { readTranscriptionFields, readTranslationFields, type RequestedTranscription } from './transcription-fields.ts';
import { expectRecording, openCall } from './transcription-call.ts';

/**
 * Checks the fields that precede the recording, before it is stored. Throws for an invalid value, and for a named model
 * that lacks a requested feature. Other fields may follow the recording.
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
  const { model, options, headers } = openCall(requested, services);
  const job = { ...options, recording };
  if (requested.stream) {
    const events = await delayStart(
      streamTranscript(model, job, { id, signal }, services),
      services.streamHoldMs,
      isFromEngine,
    );
    return answer({ status: 200, mediaType: 'text/event-stream', headers, body: toDeltas(events) });
  }
  const transcript = await transcribe(model, job, { signal }, services);
  const shaped = requested.shape ? { ...transcript, segments: toCues(transcript, requested.shape) } : transcript;
  return answer({ status: 200, headers, ...toFormat(requested.format, shaped) });
};

function operationOf({ stream }: RequestedTranscription) {
  return stream ? 'streamTranscription' : 'createTranscription';
}

/** As for a transcription. */
export function checkTranslationFields(fields: FormFields, services: Services): void {
  expectRecording(readTranslationFields(fields, { complete: false }), services);
}

/** A recording in any language, its transcript in English. */
export const createTranslation: Handler<'createTranslation', Services> = async (
  { body: { file: recording, ...fields }, signal },
  services,
) => {
  const requested = readTranslationFields(fields, { complete: true });
  const { model, options, headers } = openCall(requested, services);
  const transcript = await transcribe(model, { ...options, recording }, { signal }, services);
  return answer({ status: 200, headers, ...toPlainFormat(requested.format, transcript, requested.task) });
};

/** POST /v1/audio/transcriptions: the form as apps send it, the formats, the stream. */
import { answer, type FormFields } from '../contract/operations.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import type { Services } from '../handlers/dependencies.ts';
import { transcribe } from '../transcription/run.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { requireOperation } from '../keys/permissions.ts';
import type { Handler } from './operations.ts';
import { toCues } from '../transcription/cues.ts';
import { toDeltas } from './transcript-deltas.ts';
import { toFormat } from './transcript-formats.ts';
import { readTranscriptionFields, type TranscriptionWish } from './transcription-fields.ts';
import { expectRecording, openJob } from './transcription-job.ts';

/**
 * Checks the fields that precede the recording, before it is stored. Throws for a wrong value, and for a named model that
 * lacks a feature. Other fields may follow the recording.
 */
export async function checkRecordingFields(fields: FormFields, services: Services): Promise<void> {
  const wish = readTranscriptionFields(fields, { complete: false });
  if (fields.stream !== undefined) requireOperation(operationOf(wish));
  await expectRecording(wish, services);
}

export const createTranscription: Handler<'createTranscription', Services> = async (
  { id, body: { file: recording, ...fields }, signal },
  services,
) => {
  const wish = readTranscriptionFields(fields, { complete: true });
  requireOperation(operationOf(wish));
  const { model, options, headers } = await openJob(wish, services);
  const job = { ...options, recording };
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

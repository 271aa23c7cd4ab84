/** Runs a job: decodes its recording and transcribes it part by part, in the queue that all recordings share. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallQueue, TimedText } from '../../engines/contract/index.ts';
import { lengthOf, type WavSlice } from '../../lib/wav.ts';
import { decodeTo } from '../audio/decode/index.ts';
import type { DecodedRecording } from '../audio/decode-request.ts';
import { gapMsIn } from '../audio/timeline.ts';
import type { Schemas } from '../contract/operations.ts';
import { problemAnswer, ProblemError } from '../contract/problems.ts';
import { supports } from '../engine-host/models/model-selection.ts';
import type { AccountedDirectory, Workspace } from '../system/workspace.ts';
import { fromApi } from '../transcription/parameters.ts';
import { chooseTranscriptionModel, transcribe, type TranscriptionServices } from '../transcription/run.ts';
import { addFakeParts } from './fake-progress.ts';
import { doneMs, languageOf } from './job.ts';
import { endOfPart, recordingOf } from './parts.ts';
import type { Part } from './record.ts';
import { retrying, type RetryContext, type Retrying } from './retry.ts';

type Problem = Schemas['Problem'];

/** A job and its dependencies. */
export interface Work extends TranscriptionServices, RetryContext {
  readonly workspace: Pick<Workspace, 'accountedDirectory'>;
  readonly ffmpeg: string | undefined;
  /** TRANSCRIBE_JOB_MAX_SECONDS. */
  readonly maxSeconds: number;
  /** TRANSCRIBE_MAX_SECONDS, for each part. */
  readonly partSeconds: number;
  /** Queue in which one recording is decoded at a time. */
  readonly decoding: CallQueue;
  /** Throws `quota-exceeded` when the budget of the job's key is spent, and `unauthorized` if the key no longer exists. */
  readonly requireBudget: () => Promise<void>;
}

/** Resolves when the job is over, with the problem if it failed. Rejects with the reason of the signal. */
export async function workOn(work: Work): Promise<Problem | null> {
  const { job, signal } = work;
  try {
    const step = retrying(work);
    if (job.record.status === 'queued') await step(() => job.update({ status: 'running' }));
    if (job.pace === undefined) await transcribeAll(work, step);
    else await addFakeParts(job, job.pace, signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return problemOf(error, work);
  }
}

/** Resumes after the last stored part. */
async function transcribeAll(work: Work, step: Retrying): Promise<void> {
  const { job, metrics } = work;
  await using directory = await step(() => work.workspace.accountedDirectory('job'));
  // A timeout is not retried: the retry would time out too, while other jobs wait for the decoder.
  const { wavPath, endMs: durationMs, gaps } = await step(() => decode(work, directory), 'engine-timeout');
  if (job.record.durationMs === null) await step(() => job.update({ durationMs }));
  const cutting = { wavPath, durationMs, maxSeconds: work.partSeconds };
  const stored = job.parts();
  let language = fromApi(job.record.fields).language ?? languageOf(stored);
  for (let startMs = doneMs(stored); startMs < durationMs;) {
    const known = language;
    const slice = { wavPath, startMs, endMs: await endOfPart(startMs, cutting) };
    const part = await step(() => transcribePart(work, slice, { language: known, gapMs: gapMsIn(gaps, slice) }));
    await step(() => job.addPart(part));
    language ??= part.language;
    metrics?.jobPartEnded(lengthOf(slice));
    startMs = slice.endMs;
  }
}

/** Throws `recording-undecodable`, also if the uploaded file was removed or replaced. */
async function decode(work: Work, { path, account }: AccountedDirectory): Promise<DecodedRecording> {
  const { job, signal, ffmpeg, maxSeconds, decoding } = work;
  const { container, bytes } = job.record;
  const found = await lstat(job.recording).catch(() => undefined);
  if (!found?.isFile() || found.size !== bytes) {
    throw new ProblemError('recording-undecodable', 'The recording on the disk is missing or has changed.');
  }
  const request = { path: job.recording, container, wavPath: join(path, 'decoded.wav'), maxSeconds };
  const deadlineFactor = Math.max(1, maxSeconds / 3600);
  return decoding.run(() => decodeTo(request, { signal, account, deadlineFactor, ffmpeg }), { signal });
}

interface PartFacts {
  /** The requested language, else the one detected in the first part with speech. */
  readonly language: string | null;
  /** Milliseconds that are not in the recording. */
  readonly gapMs: number;
}

async function transcribePart(work: Work, slice: WavSlice, { language, gapMs }: PartFacts): Promise<Part> {
  const { job, signal } = work;
  await work.requireBudget();
  const { model, call } = chooseTranscriptionModel(work, job.record.model, fromApi(job.record.fields));
  const { timestamps = ['segment'] } = call; // words include segments
  await using directory = model.engine.decodes ? undefined : await work.workspace.accountedDirectory('job');
  const recording = await recordingOf(slice, directory, signal);
  const listener = {
    signal,
    onProgress: (ms: number) => void (job.partMs = ms),
    onQueued: (ahead: number | null) => void (job.ahead = ahead ?? 0),
  };
  const asked = {
    ...{ ...call, recording, gapMs },
    ...(language !== null && { language }),
    ...(supports(model, 'segment') && { timestamps }),
  };
  const transcript = await transcribe(model, asked, listener, work).finally(() => {
    job.partMs = 0;
    job.ahead = 0;
  });
  const { text, segments, words = [] } = transcript;
  const whole = text.trim() === '' ? [] : [{ startMs: 0, endMs: lengthOf(slice), text: text.trim() }];
  const shift = shiftInto(slice.startMs, slice.endMs);
  return {
    startMs: slice.startMs,
    endMs: slice.endMs,
    text,
    language: text === '' ? null : transcript.language,
    segments: (segments ?? whole).map(shift),
    words: words.map(shift),
  };
}

/** Shifts times within a part to times within the recording, and limits them to the end of the part. */
function shiftInto(from: number, to: number): (text: TimedText) => TimedText {
  const at = (ms: number) => Math.min(to, from + ms);
  return ({ startMs, endMs, text }) => ({ startMs: at(startMs), endMs: at(endMs), text });
}

/** Adds the minute at which the job failed. */
function problemOf(error: unknown, { job, log }: Work): Problem {
  const { requestId: id, durationMs } = job.record;
  const { body } = problemAnswer(error, id);
  if (body.status >= 500) log.error({ id, code: body.code, err: error }, 'a job failed');
  else log.info({ id, code: body.code }, 'a job failed');
  if (durationMs === null) return body;
  return { ...body, detail: `From minute ${Math.floor(doneMs(job.parts()) / 60_000)} on: ${body.detail}` };
}

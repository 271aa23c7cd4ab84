/** Runs a job: decodes its recording and transcribes it part by part, in the queue that all transcriptions share. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { timestampKinds, type CallQueue, type Recording, type Span } from '../../engines/contract/index.ts';
import { lengthOf } from '../../lib/wav.ts';
import { decodeTo } from '../audio/decode/index.ts';
import { decodeChannels } from '../audio/channels.ts';
import type { Channel, DecodedRecording } from '../audio/decode-request.ts';
import { gapMsIn } from '../audio/timeline.ts';
import type { Schemas } from '../contract/operations.ts';
import { problemAnswer, ProblemError } from '../contract/problems.ts';
import { supports } from '../engine-host/models/model-selection.ts';
import type { AccountedDirectory, Workspace } from '../system/workspace.ts';
import { fromApi } from '../transcription/parameters.ts';
import { chooseTranscriptionModel, transcribe, type TranscriptionServices } from '../transcription/run.ts';
import { transcribeChannels } from '../transcription/speakers/channels.ts';
import { findSpeakers, requireFinder } from '../transcription/speakers/find.ts';
import type { SpokenText, SpokenTranscript } from '../transcription/speakers/spoken.ts';
import { addFakeParts } from './fake-progress.ts';
import { doneMs, languageOf } from './job.ts';
import { endOfPart, recordingOf } from './parts.ts';
import { searchSteps, type Part } from './record.ts';
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
  // A timeout is not retried, because the retry would also time out while other jobs wait for the decoder.
  const sounds = await decodeAll(work, directory, (run) => step(run, 'engine-timeout'));
  const [{ endMs: durationMs, gaps }] = sounds;
  if (job.record.durationMs === null) await step(() => job.update({ durationMs }));
  const { diarize, language: requested } = fromApi(job.record.fields);
  if (diarize && !job.record.spans) await storeSpeakers(work, sounds[0], step);
  const cutting = { wavPaths: sounds.map(({ wavPath }) => wavPath), durationMs, maxSeconds: work.partSeconds };
  const stored = job.parts();
  let language = requested ?? languageOf(stored);
  for (let startMs = doneMs(stored); startMs < durationMs;) {
    const known = language;
    const span = { startMs, endMs: await endOfPart(startMs, cutting) };
    const facts = { language: known, gapMs: gapMsIn(gaps, span) };
    const part = await step(() => transcribePart(work, span, sounds, facts));
    await step(() => job.addPart(part));
    language ??= part.language;
    metrics?.jobPartEnded(lengthOf(span));
    startMs = span.endMs;
  }
}

/** Finds the speakers before anything is transcribed, so that the labels do not depend on the parts. */
async function storeSpeakers(work: Work, sound: DecodedRecording, step: Retrying): Promise<void> {
  const { job, signal } = work;
  const find = async () => {
    await work.requireBudget();
    const { model, call } = chooseTranscriptionModel(work, job.record.model, fromApi(job.record.fields));
    const onProgress = (fraction: number) => storeSearch(work, Math.floor(fraction * searchSteps));
    return findSpeakers(requireFinder(model), sound, { ...call, known: job.known, signal, onProgress });
  };
  const found = await step(find, 'engine-timeout');
  const spans = found.spans.map(({ startMs, endMs, speaker }) => [startMs, endMs, speaker] as const);
  await step(() => job.update({ spans, names: [...found.names], searched: searchSteps }));
}

/** If the disk is full, the next step is stored with this one. A repeated search begins with steps that are stored. */
function storeSearch({ job, log }: Work, searched: number): void {
  if (searched <= (job.record.searched ?? 0)) return;
  try {
    job.update({ searched });
  } catch (error) {
    log.warn({ id: job.record.requestId, err: error }, 'the progress of a job could not be stored');
  }
}

/** Decodes the mix of all channels, or each channel if the job requests separate channels. */
async function decodeAll(work: Work, directory: AccountedDirectory, step: Retrying): Promise<Sounds> {
  const decodeOne = (channel?: Channel) => step(() => decode(work, directory, channel));
  if (fromApi(work.job.record.fields).channels === undefined) return [await decodeOne()];
  return await decodeChannels(decodeOne, work.signal);
}

/**
 * Throws `recording-undecodable` if the recording cannot be decoded, or if the uploaded file was removed or replaced.
 */
async function decode(
  work: Work,
  { path, account }: AccountedDirectory,
  channel: Channel | undefined,
): Promise<DecodedRecording> {
  const { job, signal, ffmpeg, maxSeconds, decoding } = work;
  const { container, bytes } = job.record;
  const found = await lstat(job.recording).catch(() => undefined);
  if (!found?.isFile() || found.size !== bytes) {
    throw new ProblemError('recording-undecodable', 'The recording on the disk is missing or has changed.');
  }
  const wavPath = join(path, channel === undefined ? 'decoded.wav' : `channel-${channel}.wav`);
  const request = { path: job.recording, container, wavPath, maxSeconds, channel };
  const deadlineFactor = Math.max(1, maxSeconds / 3600);
  return decoding.run(() => decodeTo(request, { signal, account, deadlineFactor, ffmpeg }), { signal });
}

/** The decoded mix of all channels, or each of the two channels. */
type Sounds = readonly [Sound, ...Sound[]];
type Sound = DecodedRecording & { readonly isSilent?: boolean };

interface PartFacts {
  /** The requested language, otherwise the language detected in the first part with speech; null until one is known. */
  readonly language: string | null;
  /** Milliseconds of inserted silence, which are not in the recording. */
  readonly gapMs: number;
}

async function transcribePart(work: Work, span: Span, sounds: Sounds, { language, gapMs }: PartFacts): Promise<Part> {
  const { job, signal } = work;
  await work.requireBudget();
  const { model, call: asks } = chooseTranscriptionModel(work, job.record.model, fromApi(job.record.fields));
  const { channels, diarize, minSpeakers: _least, maxSpeakers: _most, ...call } = asks;
  const kinds = diarize ? timestampKinds : (call.timestamps ?? ['segment']); // words include segments
  const timestamps = kinds.filter((kind) => supports(model, kind));
  await using directory = model.engine.decodes ? undefined : await work.workspace.accountedDirectory('job');
  const recordings: (Recording | undefined)[] = [];
  for (const [index, { wavPath, isSilent }] of sounds.entries()) {
    const place = directory && { ...directory, name: `part${index || ''}.wav` };
    recordings.push(isSilent ? undefined : await recordingOf({ wavPath, ...span }, place, signal));
  }
  const [recording] = recordings;
  const listener = {
    signal,
    onProgress: (ms: number) => void (job.partMs = ms),
    onQueued: (ahead: number | null) => void (job.ahead = ahead ?? 0),
  };
  const asked = {
    ...call,
    gapMs,
    ...(language !== null && { language }),
    ...(timestamps.length > 0 && { timestamps }),
  };
  const durationMs = lengthOf(span);
  const working =
    channels === undefined && recording
      ? transcribe(model, { ...asked, recording }, listener, work)
      : transcribeChannels(model, { ...asked, durationMs, channels: recordings }, listener, work);
  const transcript: SpokenTranscript = await working.finally(() => {
    job.partMs = 0;
    job.ahead = 0;
  });
  const { text, segments, words = [] } = transcript;
  const whole = text.trim() === '' ? [] : [{ startMs: 0, endMs: durationMs, text: text.trim() }];
  const shift = shiftInto(span);
  return {
    ...span,
    text,
    language: text === '' ? null : transcript.language,
    segments: (segments ?? whole).map(shift),
    words: words.map(shift),
  };
}

/** Shifts times within a part to times within the recording, and limits them to the end of the part. */
function shiftInto(span: Span): (text: SpokenText) => SpokenText {
  const at = (ms: number) => Math.min(span.endMs, span.startMs + ms);
  return ({ startMs, endMs, ...spoken }) => ({ ...spoken, startMs: at(startMs), endMs: at(endMs) });
}

/** Returns the problem, and adds the minute of the recording at which the job failed. */
function problemOf(error: unknown, { job, log }: Work): Problem {
  const { requestId: id, durationMs } = job.record;
  const { body } = problemAnswer(error, id);
  if (body.status >= 500) log.error({ id, code: body.code, err: error }, 'a job failed');
  else log.info({ id, code: body.code }, 'a job failed');
  if (durationMs === null) return body;
  return { ...body, detail: `From minute ${Math.floor(doneMs(job.parts()) / 60_000)} on: ${body.detail}` };
}

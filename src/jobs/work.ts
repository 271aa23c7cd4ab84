/** The work on a job: decodes its recording and transcribes it part by part, through the line that all recordings share. */
import { join } from 'node:path';
import type { Logger, TimedText, TimestampKind } from '../../engines/contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { lengthOf, samplesPerMs, type WavSlice } from '../../lib/wav-slice.ts';
import { decodeTo } from '../audio/decode.ts';
import type { ProblemCode, Schemas } from '../contract/operations.ts';
import { problemAnswer, ProblemError } from '../contract/problems.ts';
import type { JobQueue } from '../../engines/contract/index.ts';
import { supports } from '../engine-host/registry/model-selection.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Workspace } from '../system/workspace.ts';
import { chooseTranscriptionModel, transcribe, type TranscriptionServices } from '../transcription/run.ts';
import { wantedFeatures } from '../transcription/wire.ts';
import { msOf, type Job } from './job.ts';
import { madeUpParts } from './made-up.ts';
import { endOfPart, recordingOf } from './parts.ts';
import type { Part } from './record.ts';

type Problem = Schemas['Problem'];

export interface WorkOptions extends TranscriptionServices {
  readonly workspace: Pick<Workspace, 'accountedDirectory'>;
  readonly ffmpeg: string | undefined;
  /** TRANSCRIBE_JOB_MAX_SECONDS. */
  readonly maxSeconds: number;
  /** TRANSCRIBE_MAX_SECONDS, for each part. */
  readonly partSeconds: number;
  /** One recording is decoded at a time. */
  readonly decoding: JobQueue;
  /** Throws `quota-exceeded` when the budget of the key of the job is spent, and `unauthorized` when there is no such key. */
  readonly requireBudget: () => Promise<void>;
  /** Milliseconds before a part that has failed is tried again. */
  readonly retryMs: readonly number[];
  readonly metrics?: Metrics | undefined;
  readonly log: Logger;
}

/** Resolves when the job is over, with the problem if it failed. Rejects with the reason of the signal. */
export async function workOn(job: Job, options: WorkOptions, signal: AbortSignal): Promise<Problem | null> {
  try {
    if (job.record.status === 'queued') await job.update({ status: 'running' });
    if (job.record.pace !== null) await madeUpParts(job, job.record.pace, signal);
    else await transcribeAll(job, options, signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return problemOf(error, job, options.log);
  }
}

async function transcribeAll(job: Job, options: WorkOptions, signal: AbortSignal): Promise<void> {
  await using directory = await retrying(job, options, signal, () => options.workspace.accountedDirectory('job'));
  const wavPath = join(directory.path, 'decoded.wav');
  const decode = async () => {
    const { container, bytes } = job.record;
    const found = await job.folder.recordingBytes();
    if (found !== bytes) {
      const what = found === undefined ? 'is not a file' : `has ${found} bytes, not ${bytes}`;
      throw new ProblemError('recording-undecodable', `The recording on the disk ${what}.`);
    }
    const { ffmpeg, maxSeconds } = options;
    const deadlineFactor = Math.max(1, maxSeconds / 3600);
    const to = { path: job.folder.recording, container, wavPath, maxSeconds };
    const account = directory.account;
    return options.decoding.run(() => decodeTo(to, { signal, account, deadlineFactor, ffmpeg }), { signal });
  };
  // A retry would time out again, and decoding runs one recording at a time.
  const passes = (problem: Problem) => isPassing(problem) && problem.code !== 'engine-timeout';
  const { endMs: durationMs } = await retrying(job, options, signal, decode, passes);
  if (job.record.durationMs === null) await job.update({ durationMs });
  const cutting = { wavPath, durationMs, maxSeconds: options.partSeconds };
  let startMs = job.parts === 0 ? 0 : msOf((await job.folder.readPart(job.parts - 1)).end);
  while (startMs < durationMs) {
    const sound = { wavPath, startMs, endMs: await endOfPart(startMs, cutting) };
    const part = await retrying(job, options, signal, () => transcribePart(job, sound, options, signal));
    await retrying(job, options, signal, () => job.addPart(part));
    options.metrics?.jobPartEnded(lengthOf(sound));
    startMs = sound.endMs;
  }
}

async function transcribePart(job: Job, sound: WavSlice, options: WorkOptions, signal: AbortSignal): Promise<Part> {
  await options.requireBudget();
  const { record } = job;
  const asked = wantedFeatures(record);
  const model = await chooseTranscriptionModel(options, record.model, asked);
  const timestamps: readonly TimestampKind[] = supports(model, 'segment')
    ? [...new Set([...asked.timestamps, 'segment' as const])]
    : [];
  await using directory = await options.workspace.accountedDirectory('job');
  const recording = await recordingOf(sound, model.engine, directory, signal);
  const listener = {
    signal,
    onProgress: (ms: number) => job.reached(ms),
    onQueued: (ahead: number | null) => job.waits(ahead ?? 0),
  };
  const language = job.language ?? undefined;
  const transcript = await transcribe(model, { recording, language, ...asked, timestamps }, listener, options).finally(
    () => {
      job.reached(0);
      job.waits(0);
    },
  );
  const { text, segments, words = [] } = transcript;
  const whole = text.trim() === '' ? [] : [{ startMs: 0, endMs: lengthOf(sound), text: text.trim() }];
  const place = placing(sound.startMs, sound.endMs);
  return {
    start: sound.startMs * samplesPerMs,
    end: sound.endMs * samplesPerMs,
    text,
    language: text === '' ? null : transcript.language,
    segments: (segments ?? whole).map(place),
    words: words.map(place),
  };
}

/** Within the part: what follows it must not start before. */
function placing(from: number, to: number): (text: TimedText) => TimedText {
  const at = (ms: number) => Math.min(to, from + ms);
  return ({ startMs, endMs, text }) => ({ startMs: at(startMs), endMs: at(endMs), text });
}

/** Runs it again while it fails for a reason that passes; at last throws what it failed with. */
async function retrying<T>(
  job: Job,
  options: WorkOptions,
  signal: AbortSignal,
  run: () => Promise<T>,
  passes: (problem: Problem) => boolean = isPassing,
): Promise<T> {
  for (let failures = 0; ;) {
    try {
      return await run();
    } catch (error) {
      signal.throwIfAborted();
      const { body } = problemAnswer(error, job.record.requestId);
      const usual = options.retryMs[Math.min(failures, options.retryMs.length - 1)] ?? 0;
      const isOurs = ownReasons.has(body.code);
      if (!isOurs && (!passes(body) || failures >= options.retryMs.length)) throw error;
      failures += isOurs && failures === options.retryMs.length - 1 ? 0 : 1;
      options.metrics?.jobPartRetried();
      options.log.info({ id: job.record.requestId, code: body.code, err: error }, 'a part of a job is tried again');
      await pause(Math.max(usual, waitOf(body)), signal);
    }
  }
}

/** The service is busy or its disk is full, or the key has to wait for tomorrow: the job waits as long as it takes. */
const ownReasons: ReadonlySet<ProblemCode> = new Set(['overloaded', 'storage-full', 'quota-exceeded']);

function isPassing({ status, code }: Problem): boolean {
  return [429, 503, 504].includes(status) || code === 'provider-unreachable';
}

/** A provider's Retry-After counts if it is longer; a day at most. */
function waitOf({ code, retry_after: seconds = 0 }: Problem): number {
  return code === 'overloaded' || code === 'storage-full' ? 0 : seconds * 1000;
}

/** Says which minutes failed. */
function problemOf(error: unknown, job: Job, log: Logger): Problem {
  const { requestId, durationMs } = job.record;
  const { body } = problemAnswer(error, requestId);
  const facts = { id: requestId, code: body.code, err: error };
  if (body.status >= 500) log.error(facts, 'a job failed');
  else log.info({ id: requestId, code: body.code }, 'a job failed');
  if (durationMs === null) return body;
  return { ...body, detail: `From minute ${job.doneMinutes} on: ${body.detail}` };
}

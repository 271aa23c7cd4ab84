/** Long recordings are transcribed as jobs of the service, which continue when the page is closed. */
import {
  ParlanceError,
  type TimedText,
  type TranscribeOptions,
  type Transcription,
  type TranscriptionJob,
} from '../../src/client/index.ts';
import { failureOf, isNotAllowed, type Failure } from '../failure.ts';
import { speakerFields, timestamps } from '../listings.ts';
import { resultOf } from '../result.ts';
import { client } from '../service.ts';
import { timeText } from './timed-transcript.ts';
import type { JobProgress } from './recording.ts';
import { newEstimate, progress, wait } from './time-left.ts';

/** The limit of an ordinary transcription. */
const largestBytes = 26_214_400;
const longestSeconds = 600;

/** Describes the accepted files to people who choose one. The operator may have set other limits for jobs. */
export const acceptedFiles =
  'Audio or video, such as mp3, m4a, wav, ogg, webm or mp4. ' +
  'Over 10 minutes or 25 MB it is transcribed in the background, usually up to 4 hours and 500 MB.';

export async function isLong(file: File): Promise<boolean> {
  return file.size > largestBytes || (await secondsOf(file)) > longestSeconds;
}

/** 0 if the browser cannot read the length. */
function secondsOf(file: File): Promise<number> {
  const url = URL.createObjectURL(file);
  const audio = new Audio();
  const length = new Promise<number>((resolve) => {
    audio.onloadedmetadata = () => resolve(Number.isFinite(audio.duration) ? audio.duration : 0);
    audio.onerror = () => resolve(0);
    setTimeout(resolve, 3_000, 0);
    audio.preload = 'metadata';
    audio.src = url;
  });
  return length.finally(() => {
    audio.removeAttribute('src');
    URL.revokeObjectURL(url);
  });
}

/** Returns undefined if the service takes no jobs, but may accept an ordinary upload. */
export async function createJob(
  file: File,
  options: TranscribeOptions & { readonly signal: AbortSignal },
): Promise<TranscriptionJob | undefined> {
  try {
    return await client.value.transcriptions.create(file, { ...options, ...timestamps.value });
  } catch (error) {
    if (isWithoutJobs(error) && file.size <= largestBytes) return undefined;
    throw error;
  }
}

function isWithoutJobs(error: unknown): boolean {
  const codes = ['transcription-disabled', 'not-ready', 'not-found'];
  return isNotAllowed(error) || (error instanceof ParlanceError && codes.includes(error.code));
}

/** Adds what to do if the speakers of the recording cannot be distinguished, which only the service knows. */
export function failureOfRecording(error: unknown): Failure {
  const { text, ...failure } = failureOf(error);
  return { ...failure, text: [text, adviceFor(failure)].filter(Boolean).join(' ') };
}

function adviceFor({ code }: Pick<Failure, 'code'>): string | false {
  // The page sends only what the model supports.
  if (code === 'parameter-not-supported') return 'Choose another way to distinguish speakers, or none, under “Models”.';
  const isLimited = code === 'recording-too-long' && speakerFields.value.diarize !== undefined;
  return isLimited && 'Without speakers, longer recordings may be possible: see “Models”.';
}

/** The service has deleted it, or it belongs to another key. */
export const isJobGone = (error: unknown): boolean =>
  error instanceof ParlanceError && error.code === 'transcription-not-found';

/** Describes the progress to people who wait. */
export function textOfProgress(progress: Omit<JobProgress, 'segments'> | undefined): string {
  const { ahead, done, leftMs } = progress ?? {};
  if (ahead !== undefined && ahead > 0) return `Waiting: ${ahead} ahead.`;
  if (done === undefined) return 'Waiting for the service.';
  const left = leftMs === undefined ? '' : `, about ${timeText(leftMs)} left`;
  return `${Math.round(done * 100)} % done${left}.`;
}

/** The page draws the progress this often: after a reload, thousands of segments arrive at once. */
const drawMs = 200;

/** Resolves with the transcript. Rejects with the problem of a transcription that failed. */
export async function followJob(
  id: string,
  signal: AbortSignal,
  onProgress: (progress: JobProgress) => void,
): Promise<Transcription> {
  const segments: TimedText[] = [];
  let state: Omit<JobProgress, 'segments'> = {};
  let estimate = newEstimate(performance.now());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    timer = undefined;
    onProgress({ ...state, segments: [...segments] });
  };
  try {
    return await resultOf(client.value.transcriptions.events(id, { signal }), (event) => {
      const now = performance.now();
      if (event.type === 'segment.created') segments.push(event.segment);
      if (event.type === 'transcription.queued') {
        state = { ...state, ahead: event.ahead };
        if (!state.done) estimate = wait(estimate, now);
      }
      if (event.type === 'transcription.progress') {
        const { processed_ms: processed, duration_ms: duration = 0 } = event;
        const done = duration > 0 ? Math.min(1, processed / duration) : undefined;
        const next = progress(estimate, done ?? 0, now);
        estimate = next.estimate;
        state = { ...(done !== undefined && { done }), ...(next.leftMs !== undefined && { leftMs: next.leftMs }) };
      }
      timer ??= setTimeout(draw, drawMs);
    });
  } finally {
    if (timer !== undefined) {
      clearTimeout(timer);
      draw(); // a transcription that failed keeps its segments
    }
  }
}

/** Deletes a job and stops its transcription. */
/** A failure is ignored, because the job expires. */
export const deleteJob = (id: string): Promise<void> => client.value.transcriptions.delete(id).catch(() => undefined);

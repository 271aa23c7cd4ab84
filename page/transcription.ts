/** Transcribes speech and files. A failed recording is kept for a retry or a download, unless the service refuses it. */
import { effect, signal, untracked } from '@preact/signals';
import type { TranscribeOptions, Transcription } from '../src/client/index.ts';
import { isRecordingRefused, type Failure } from './failure.ts';
import { askIfRefused } from './key.ts';
import { recordingFields, speakerFields, timestamps } from './listings.ts';
import { dropRecording, keepRecording, keptRecordings } from './kept-recordings.ts';
import { createJob, failureOfRecording, isLong } from './reader/jobs.ts';
import { addRecording } from './reader/recordings.ts';
import { resultOf } from './result.ts';
import { saveFile } from './save-file.ts';
import { client } from './service.ts';
import { announce } from './announcements.ts';
import type { SpeakerFields } from './choices.ts';
import { applyTranscriptionEvent, isUnknown, newTranscript, type Transcript } from './transcript.ts';

export interface Undelivered {
  readonly failure: Failure;
  /** Its id in the storage of this device; undefined if it is not kept. */
  readonly keptAs?: string | undefined;
  /** Undefined if it failed before there was one, and for a refused file, which the user still has. */
  readonly recording: File | undefined;
  /** True if its transcript belongs in the message. */
  readonly isDictated?: boolean | undefined;
  /** True if a retry would be refused again. */
  readonly isRefused?: boolean;
}

/** Undefined if nothing is being transcribed. */
export const transcribing = signal<Transcript | undefined>(undefined);
export const undelivered = signal<Undelivered | undefined>(undefined);
/** True if the last recording was silence. */
export const wasSilent = signal(false);

let call: AbortController | undefined;

export interface SpeechOptions {
  /**
   * The words that were transcribed while they were spoken; undefined if the recording has to be uploaded after all.
   * Rejects when the signal aborts.
   */
  readonly live?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
}

/** Transcribes dictated or hands-free speech. Returns undefined in the same cases as `transcribe`. */
export async function transcribeSpeech(
  source: File | Promise<File>,
  { live }: SpeechOptions = {},
): Promise<string | undefined> {
  return transcribe(source, {
    isDictated: true,
    work: async (recording, signal) =>
      (await live?.(signal)) ?? (await transcriptionOf(recording, signal))?.text.trim(),
    textOf: (text) => text,
  });
}

/** Transcribes a file for the reader. */
export async function transcribeFile(file: File): Promise<void> {
  const result = await transcribe(file, {
    isDictated: false,
    work: (recording, signal) => transcriptionOf(recording, signal, { ...timestamps.value, ...speakerFields.value }),
    textOf: ({ text }) => text.trim(),
  });
  if (result) addRecording(file, { result });
}

interface Work<Result> {
  readonly isDictated: boolean;
  /** Undefined for a long recording, which is now a job and shown in the reader. */
  readonly work: (recording: File, signal: AbortSignal) => Promise<Result | undefined>;
  readonly textOf: (result: Result) => string;
}

/** Returns undefined if the recording is silent or long, and after a failure or a cancellation. */
async function transcribe<Result>(
  source: File | Promise<File>,
  { isDictated, work, textOf }: Work<Result>,
): Promise<Result | undefined> {
  const before = undelivered.value;
  call?.abort();
  const { signal } = (call = new AbortController());
  undelivered.value = undefined;
  wasSilent.value = false;
  transcribing.value = newTranscript;
  announce('Transcribing.');
  let recording: File | undefined;
  try {
    recording = await source;
    signal.throwIfAborted();
    const result = await work(recording, signal);
    await forget(recording, before);
    if (result === undefined || textOf(result) !== '') return result;
    wasSilent.value = true;
    announce('No speech was detected.');
  } catch (error) {
    if (signal.aborted) return undefined;
    askIfRefused(error);
    const kind = { ...(isDictated && { isDictated }), failure: failureOfRecording(error) };
    if (isRecordingRefused(error)) {
      const isFile = source instanceof File && source !== before?.recording;
      undelivered.value = { recording: isFile ? undefined : recording, ...kind, isRefused: true };
      await forget(recording, before);
      return undefined;
    }
    undelivered.value = { recording, ...kind };
    if (recording) await keep(recording, before, isDictated);
  } finally {
    if (call.signal === signal) transcribing.value = undefined;
  }
  return undefined;
}

/** Deletes the kept copy of the recording. */
async function forget(recording: File | undefined, before: Undelivered | undefined): Promise<void> {
  if (before?.keptAs !== undefined && before.recording === recording) await dropRecording(before.keptAs);
}

/** Keeps the recording across a reload. */
async function keep(recording: File, before: Undelivered | undefined, isDictated: boolean): Promise<void> {
  const known = before?.recording === recording ? before.keptAs : undefined;
  const keptAs = known ?? (await keepRecording(recording, isDictated));
  if (undelivered.value?.recording === recording) undelivered.value = { ...undelivered.value, keptAs };
}

/** Offers kept recordings of earlier visits; again whenever the key changes. */
export function watchKept(): void {
  effect(() => void (client.value, untracked(offerKept)));
}

async function offerKept(): Promise<void> {
  if (undelivered.value || transcribing.value) return;
  const [kept] = await keptRecordings();
  if (!kept) return;
  const failure = { text: 'This recording was not transcribed. It is kept on this device for a day.' };
  undelivered.value = { recording: kept.file, isDictated: kept.isDictated, keptAs: kept.id, failure };
}

export async function discardUndelivered(): Promise<void> {
  const { keptAs } = undelivered.value ?? {};
  undelivered.value = undefined;
  if (keptAs !== undefined) await dropRecording(keptAs);
  await offerKept(); // offers the next one
}

function changeOf(signal: AbortSignal) {
  return (update: (transcript: Transcript) => Transcript) => {
    if (!signal.aborted && transcribing.value) transcribing.value = update(transcribing.value);
  };
}

const sentOf = (signal: AbortSignal) => (sent: number) => changeOf(signal)((transcript) => ({ ...transcript, sent }));

/** Resolves with undefined for a long recording, which becomes a job. */
async function transcriptionOf(
  recording: File,
  signal: AbortSignal,
  more: SpeakerFields & Pick<TranscribeOptions, 'timestamps'> = {},
): Promise<Transcription | undefined> {
  const options = { signal, onUploadProgress: sentOf(signal), ...recordingFields.value, ...more };
  const job = (await isLong(recording)) && (await createJob(recording, options));
  if (!job) return shortResultOf(recording, options);
  addRecording(recording, { job: job.id });
  announce('Recording uploaded. You can close this page; the transcription continues.');
  return undefined;
}

async function shortResultOf(
  recording: File,
  options: TranscribeOptions & { readonly signal: AbortSignal },
): Promise<Transcription> {
  const change = changeOf(options.signal);
  const asking = setInterval(() => {
    if (!transcribing.value || !isUnknown(transcribing.value)) return;
    void isLoading(options).then((isLoading) => change((transcript) => ({ ...transcript, isLoading })));
  }, askAgainMs);
  try {
    return await resultOf(client.value.streamTranscription(recording, options), (event) =>
      change((transcript) => applyTranscriptionEvent(transcript, event)),
    );
  } finally {
    clearInterval(asking);
  }
}

/** A key may be limited to 60 requests per minute. */
const askAgainMs = 2_000;

/**
 * Returns whether the model is being loaded, which takes a while for a large one. False if the service does not respond
 * or the key may not request it.
 */
async function isLoading({ signal, model }: TranscribeOptions & { readonly signal: AbortSignal }): Promise<boolean> {
  const options = { signal, ...(model !== undefined && { model }) };
  const probe = await client.value.transcriptionAvailability(options).catch(() => undefined);
  return probe?.code === 'loading';
}

export function stopTranscribing(): void {
  call?.abort();
}

export function saveUndelivered(): void {
  const { recording } = undelivered.value ?? {};
  if (recording) saveFile(recording);
}

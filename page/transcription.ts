/** Transcribes recordings. A failed one is kept for a retry or a download, unless the service refuses the recording. */
import { effect, signal, untracked } from '@preact/signals';
import { ParlanceError } from '../src/client/index.ts';
import { failureOf, isRecordingRefused, type Failure } from './failure.ts';
import { askIfRefused } from './key.ts';
import { recordingFields } from './listings.ts';
import { dropRecording, keepRecording, keptRecordings } from './kept-recordings.ts';
import { createJob, isLong } from './long-recordings.ts';
import { saveFile } from './save-file.ts';
import { client } from './service.ts';
import { announce } from './announcements.ts';
import { applyTranscriptionEvent, isUnknown, newTranscript, type Transcript } from './transcript.ts';

export interface Undelivered {
  readonly failure: Failure;
  /** Its id in the storage of this device; undefined if it is not kept. */
  readonly keptAs?: string | undefined;
  /** Undefined if it failed before there was one, and for a refused file, which its owner has. */
  readonly recording: File | undefined;
  /** A retry would be refused again. */
  readonly isRefused?: boolean;
}

/** Undefined if nothing is being transcribed. */
export const transcribing = signal<Transcript | undefined>(undefined);
export const undelivered = signal<Undelivered | undefined>(undefined);
/** The last recording was silence. */
export const wasSilent = signal(false);

let call: AbortController | undefined;

/** The transcript; undefined if there is none: silence, failed, canceled, or a long recording, which is a job now. */
export async function transcribe(source: File | Promise<File>): Promise<string | undefined> {
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
    const isJob =
      (await isLong(recording)) && (await createJob(recording, { signal, onUploadProgress: sentOf(signal) }));
    const text = isJob ? '' : await textOf(recording, signal);
    await forget(recording, before);
    if (isJob) return undefined;
    if (text !== '') return text;
    wasSilent.value = true;
    announce('No speech was detected.');
  } catch (error) {
    if (signal.aborted) return undefined;
    askIfRefused(error);
    if (isRecordingRefused(error)) {
      const isFile = source instanceof File && source !== before?.recording;
      undelivered.value = { recording: isFile ? undefined : recording, failure: failureOf(error), isRefused: true };
      await forget(recording, before);
      return undefined;
    }
    undelivered.value = { recording, failure: failureOf(error) };
    if (recording) await keep(recording, before);
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
async function keep(recording: File, before: Undelivered | undefined): Promise<void> {
  const known = before?.recording === recording ? before.keptAs : undefined;
  const keptAs = known ?? (await keepRecording(recording));
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
  undelivered.value = { recording: kept.file, keptAs: kept.id, failure };
}

export async function discardUndelivered(): Promise<void> {
  const { keptAs } = undelivered.value ?? {};
  undelivered.value = undefined;
  if (keptAs !== undefined) await dropRecording(keptAs);
  await offerKept(); // the next one
}

function changeOf(signal: AbortSignal) {
  return (update: (transcript: Transcript) => Transcript) => {
    if (!signal.aborted && transcribing.value) transcribing.value = update(transcribing.value);
  };
}

const sentOf = (signal: AbortSignal) => (sent: number) => changeOf(signal)((transcript) => ({ ...transcript, sent }));

async function textOf(recording: File, signal: AbortSignal): Promise<string> {
  const change = changeOf(signal);
  const options = { signal, ...recordingFields.value };
  const asking = setInterval(() => {
    if (!transcribing.value || !isUnknown(transcribing.value)) return;
    void isLoading(options).then((isLoading) => change((transcript) => ({ ...transcript, isLoading })));
  }, askAgainMs);
  try {
    for await (const event of client.value.streamTranscription(recording, {
      ...options,
      onUploadProgress: sentOf(signal),
    })) {
      if (event.type === 'transcription.completed') return event.result.text.trim();
      if (event.type === 'transcription.failed') throw ParlanceError.fromProblem(event.problem);
      change((transcript) => applyTranscriptionEvent(transcript, event));
    }
  } finally {
    clearInterval(asking);
  }
  throw new Error('The stream of a transcription ended without its last event.'); // the client throws before
}

/** A key may be limited to 60 requests per minute. */
const askAgainMs = 2_000;

/** Loading a large model takes a while. False if the service does not respond or the key may not ask. */
async function isLoading(options: { readonly signal: AbortSignal; readonly model?: string }): Promise<boolean> {
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

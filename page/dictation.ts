/**
 * Records from one press to the next, and puts the transcript into the composer. Where the service transcribes live, the
 * words appear at each pause. Files go to the reader.
 */
import { signal } from '@preact/signals';
import { addToDraft, draft, focusDraft } from './draft.ts';
import { LiveDictation } from './live-dictation.ts';
import { transcribeFile, transcribeSpeech, transcribing, undelivered } from './transcription.ts';
import { onGone, useMicrophone } from './microphone.ts';
import { preferences } from './preferences.ts';
import { ask, isAnswering } from './run.ts';
import { unlock } from './playback.ts';
import { announce } from './announcements.ts';
import { closeRecording } from './reader/recordings.ts';
import { record, type Recording } from './recorder.ts';

export const dictation = signal<'off' | 'asking' | 'recording'>('off');
/** `performance.now()` at the start of the recording. */
export const startedAt = signal(0);

let recording: Recording | undefined;
let live: LiveDictation | undefined;
/** Aborts when the recording ends. */
let session: AbortController | undefined;

/** Call only in a click handler. */
export async function startDictation(): Promise<void> {
  if (dictation.value !== 'off' || transcribing.value) return;
  dictation.value = 'asking';
  const { signal } = (session = new AbortController());
  const isOpen = await useMicrophone(signal, async (stream) => {
    onGone(stream, () => void finishDictation());
    const words = (live = LiveDictation.open());
    const begun = await record(stream, signal, (frame, rate) => words?.push(frame, rate));
    if (!signal.aborted) recording = begun;
  });
  if (signal.aborted) return;
  if (!isOpen) return dropDictation();
  dictation.value = 'recording';
  startedAt.value = performance.now();
  announce('Recording.');
}

export async function finishDictation(): Promise<void> {
  const file = recording?.file;
  if (!file) return;
  const words = live;
  live = undefined;
  dropDictation();
  await deliver(file, words);
}

export function dropDictation(): void {
  session?.abort();
  live?.close();
  live = undefined;
  recording = undefined;
  dictation.value = 'off';
}

/** Transcribes a file, and closes the transcript that is open. */
export async function takeFile(file: File): Promise<void> {
  closeRecording();
  unlock();
  await transcribeFile(file);
}

export async function tryAgain(): Promise<void> {
  const { recording: failed, isDictated } = undelivered.value ?? {};
  if (!failed) return;
  unlock();
  await (isDictated ? deliver(failed) : transcribeFile(failed));
}

async function deliver(source: File | Promise<File>, words?: LiveDictation): Promise<void> {
  const text = await transcribeSpeech(source, { live: words && ((signal) => words.finish(signal)) });
  if (text === undefined) return;
  addToDraft(text);
  if (preferences.value.sendAtOnce && !isAnswering.value) {
    const message = draft.value;
    draft.value = '';
    void ask(message);
    return;
  }
  announce(`Transcript: ${text}`);
  focusDraft();
}

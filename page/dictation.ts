/** Records from one press to the next, and puts the transcript into the composer. Files take the same way. */
import { signal } from '@preact/signals';
import { addToDraft, draft, focusDraft } from './draft.ts';
import { undelivered, transcribe, transcribing } from './transcription.ts';
import { onGone, useMicrophone } from './microphone.ts';
import { preferences } from './preferences.ts';
import { ask, isAnswering } from './run.ts';
import { unlock } from './playback.ts';
import { announce } from './announcements.ts';
import { record, type Recording } from './recorder.ts';

export const dictation = signal<'off' | 'asking' | 'recording'>('off');
/** `performance.now()` at the start of the recording. */
export const startedAt = signal(0);

let recording: Recording | undefined;
/** Aborts when the recording ends. */
let session: AbortController | undefined;

/** In a click only. */
export async function startDictation(): Promise<void> {
  if (dictation.value !== 'off' || transcribing.value) return;
  dictation.value = 'asking';
  const { signal } = (session = new AbortController());
  const isOpen = await useMicrophone(signal, async (stream) => {
    onGone(stream, () => void finishDictation());
    const begun = await record(stream, signal);
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
  dropDictation();
  await deliver(file);
}

export function dropDictation(): void {
  session?.abort();
  recording = undefined;
  dictation.value = 'off';
}

export async function takeFile(file: File): Promise<void> {
  unlock();
  await deliver(file);
}

export async function tryAgain(): Promise<void> {
  if (undelivered.value?.recording) await takeFile(undelivered.value.recording);
}

async function deliver(source: File | Promise<File>): Promise<void> {
  const text = await transcribe(source);
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

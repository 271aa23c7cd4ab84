/** Press to speak, press to stop: the words land in the composer. Files take the same way. */
import { signal } from '@preact/signals';
import { addToDraft, draft, focusDraft } from './draft.ts';
import { undelivered, transcribe, transcribing } from './transcription.ts';
import { explain, openMicrophone } from './microphone.ts';
import { preferences } from './preferences.ts';
import { ask, isAnswering } from './run.ts';
import { stopPlayback, unlock } from './playback.ts';
import { announce } from './announcements.ts';
import { record, type Recording } from './recorder.ts';

export const dictation = signal<'off' | 'asking' | 'recording'>('off');
/** `performance.now()` at the start of the recording. */
export const startedAt = signal(0);

let take: Recording | undefined;
let opening: AbortController | undefined;

/** In a click only. */
export async function startDictation(): Promise<void> {
  if (dictation.value !== 'off' || transcribing.value) return;
  stopPlayback();
  unlock();
  dictation.value = 'asking';
  const { signal } = (opening = new AbortController());
  try {
    const stream = await openMicrophone(signal);
    const begun = await record(stream, { onGone: () => void finishDictation() });
    if (signal.aborted) return begun.drop();
    take = begun;
    startedAt.value = performance.now();
    dictation.value = 'recording';
    announce('Recording.');
  } catch (error) {
    if (signal.aborted) return;
    dictation.value = 'off';
    explain(error);
  }
}

export async function finishDictation(): Promise<void> {
  const finished = take;
  if (!finished) return;
  take = undefined;
  dictation.value = 'off';
  await deliver(finished.finish());
}

export function dropDictation(): void {
  opening?.abort();
  take?.drop();
  take = undefined;
  dictation.value = 'off';
}

export async function takeFile(file: File): Promise<void> {
  unlock();
  await deliver(file);
}

export async function tryAgain(): Promise<void> {
  if (undelivered.value?.recording) await takeFile(undelivered.value.recording);
}

async function deliver(recording: File | Promise<File>): Promise<void> {
  const text = await transcribe(recording);
  if (text === undefined) return;
  addToDraft(text);
  if (preferences.value.sendAtOnce && !isAnswering.value) {
    const message = draft.value;
    draft.value = '';
    void ask(message);
    return;
  }
  announce(`Heard: ${text}`);
  focusDraft();
}

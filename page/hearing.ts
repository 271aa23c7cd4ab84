/** Transcribes recordings. One that fails is kept: it can be tried again, and saved. */
import { signal } from '@preact/signals';
import { failureOf, isKeyRefused, type Failure } from './failure.ts';
import { isKeyAsked } from './key.ts';
import { chosen } from './listings.ts';
import { client } from './service.ts';
import { say } from './status.ts';

export interface Kept {
  readonly recording: File;
  readonly failure: Failure;
}

export interface Progress {
  /** Of the upload, 0 to 1; undefined where the browser does not say. */
  readonly sent?: number;
}

/** Undefined: nothing is being transcribed. */
export const transcribing = signal<Progress | undefined>(undefined);
export const kept = signal<Kept | undefined>(undefined);
/** The last recording was silence. */
export const wasSilent = signal(false);

let call: AbortController | undefined;

/** The transcript; undefined if there is none: silence, failed, or cancelled. */
export async function transcribe(source: File | Promise<File>): Promise<string | undefined> {
  call?.abort();
  const { signal } = (call = new AbortController());
  kept.value = undefined;
  wasSilent.value = false;
  transcribing.value = {};
  say('Transcribing.');
  const onUploadProgress = (sent: number) => {
    if (!signal.aborted) transcribing.value = { sent };
  };
  const recording = await source;
  try {
    signal.throwIfAborted();
    const model = chosen.value.transcription?.id;
    const { text } = await client.value.transcribe(recording, {
      signal,
      onUploadProgress,
      ...(model !== undefined && { model }),
    });
    if (text.trim() !== '') return text.trim();
    wasSilent.value = true;
    say('Nothing was heard.');
  } catch (error) {
    if (signal.aborted) return undefined;
    if (isKeyRefused(error)) isKeyAsked.value = true;
    kept.value = { recording, failure: failureOf(error) };
  } finally {
    if (call.signal === signal) transcribing.value = undefined;
  }
  return undefined;
}

export function stopTranscribing(): void {
  call?.abort();
}

export function saveKept(): void {
  if (!kept.value) return;
  const { recording } = kept.value;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(recording);
  link.download = recording.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the download has begun by then
}

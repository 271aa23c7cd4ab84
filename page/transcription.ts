/** Transcribes recordings. One that fails is kept: it can be tried again, and saved. */
import { signal } from '@preact/signals';
import { ParlanceError } from '../src/client/index.ts';
import { failureOf, isKeyRefused, type Failure } from './failure.ts';
import { isKeyAsked } from './key.ts';
import { chosen } from './listings.ts';
import { client } from './service.ts';
import { announce } from './announcements.ts';
import { applyTranscriptionEvent, isUnknown, newTranscript, type Transcript } from './transcript.ts';

export interface Undelivered {
  readonly failure: Failure;
  /** Undefined if it failed before there was a recording. */
  readonly recording: File | undefined;
}

/** Undefined: nothing is being transcribed. */
export const transcribing = signal<Transcript | undefined>(undefined);
export const undelivered = signal<Undelivered | undefined>(undefined);
/** The last recording was silence. */
export const wasSilent = signal(false);

let call: AbortController | undefined;

/** The transcript; undefined if there is none: silence, failed, or cancelled. */
export async function transcribe(source: File | Promise<File>): Promise<string | undefined> {
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
    const text = await textOf(recording, signal);
    if (text !== '') return text;
    wasSilent.value = true;
    announce('Nothing was heard.');
  } catch (error) {
    if (signal.aborted) return undefined;
    if (isKeyRefused(error)) isKeyAsked.value = true;
    undelivered.value = { recording, failure: failureOf(error) };
  } finally {
    if (call.signal === signal) transcribing.value = undefined;
  }
  return undefined;
}

async function textOf(recording: File, signal: AbortSignal): Promise<string> {
  const change = (update: (transcript: Transcript) => Transcript) => {
    if (!signal.aborted && transcribing.value) transcribing.value = update(transcribing.value);
  };
  const onUploadProgress = (sent: number) => change((transcript) => ({ ...transcript, sent }));
  const model = chosen.value.transcription?.id;
  const options = { signal, ...(model !== undefined && { model }) };
  const asking = setInterval(() => {
    if (!transcribing.value || !isUnknown(transcribing.value)) return;
    void isLoading(options).then((isLoading) => change((transcript) => ({ ...transcript, isLoading })));
  }, askAgainMs);
  try {
    for await (const event of client.value.streamTranscription(recording, { ...options, onUploadProgress })) {
      if (event.type === 'transcription.completed') return event.result.text.trim();
      if (event.type === 'transcription.failed') throw ParlanceError.fromProblem(event.problem);
      change((transcript) => applyTranscriptionEvent(transcript, event));
    }
  } finally {
    clearInterval(asking);
  }
  throw new Error('The stream of a transcription ended without its last event.'); // the client throws before
}

/** A key may have 60 requests in a minute. */
const askAgainMs = 2_000;

/** A large model takes a while. No answer, or a key that may not ask: it is not known. */
async function isLoading(options: { readonly signal: AbortSignal; readonly model?: string }): Promise<boolean> {
  const probe = await client.value.transcriptionAvailability(options).catch(() => undefined);
  return probe?.code === 'loading';
}

export function stopTranscribing(): void {
  call?.abort();
}

export function saveUndelivered(): void {
  const { recording } = undelivered.value ?? {};
  if (!recording) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(recording);
  link.download = recording.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the download has begun by then
}

/**
 * One `<audio>` for the whole page, and a queue of addresses. Safari plays only an element that has played in a click,
 * so call `unlock` in every click that may lead to speech.
 */
import { signal } from '@preact/signals';
import { client, clipUrl } from './service.ts';
import { maxTextLength } from './conversation-state.ts';
import { chosen } from './listings.ts';
import { failureOf, type Failure } from './failure.ts';
import { encodeWav } from './wav.ts';

interface Sound {
  /** Identifies the button that belongs to it. */
  readonly id: string;
  readonly url: string;
  /** Id of a clip that was made for this sound: stopping ends its synthesis. */
  readonly ownClip?: string;
}

const audio = new Audio();
const queue: Sound[] = [];
let current: Sound | undefined;
let isUnlocked = false;
let synthesis: AbortController | undefined;

/** Id of the sound that is playing or loading. */
export const speaking = signal<string | undefined>(undefined);
/** The browser waits for a gesture; nothing is tried again without one. */
export const isBlocked = signal(false);
export const speakerFailure = signal<Failure | undefined>(undefined);

audio.addEventListener('ended', () => {
  if (current) advance();
});
audio.addEventListener('error', () => {
  if (!current) return;
  speakerFailure.value = { text: 'The clip could not be played. Clips expire after a short time.' };
  advance();
});

export function unlock(): void {
  if (isUnlocked || current) return;
  audio.src = URL.createObjectURL(encodeWav(new Float32Array(400), 8_000)); // 50 ms of silence
  audio.play().then(
    () => (isUnlocked = true),
    () => undefined, // the next click tries again
  );
}

/** Plays after the sounds in the queue. */
export function enqueue(sound: Sound): void {
  speakerFailure.value = undefined;
  queue.push(sound);
  if (!current) advance();
}

/** Plays at once. */
export function play(sound: Sound): void {
  stopPlayback();
  enqueue(sound);
}

export async function readAloud(id: string, text: string): Promise<void> {
  stopPlayback();
  speakerFailure.value = undefined;
  speaking.value = id;
  const { signal } = (synthesis = new AbortController());
  try {
    const ownClip = await synthesize(text, signal);
    enqueue({ id, url: clipUrl(ownClip), ownClip });
  } catch (error) {
    if (signal.aborted) return;
    speaking.value = undefined;
    speakerFailure.value = failureOf(error);
  }
}

/** The clip is playable at once, long before it is complete. */
async function synthesize(text: string, signal: AbortSignal): Promise<string> {
  const { speech, voice } = chosen.value;
  const request = {
    text: text.slice(0, maxTextLength),
    ...(speech && { model: speech.id }),
    ...(voice !== undefined && { voice_id: voice }),
  };
  const clip = await client.value.createClip(request, { signal });
  return clip.id;
}

/** Deletes a clip that only this page knows. */
function discard({ ownClip }: Sound): void {
  if (ownClip !== undefined) client.value.deleteClip(ownClip).catch(() => undefined);
}

/** Stops at once and clears the queue. */
export function stopPlayback(): void {
  synthesis?.abort();
  if (current) discard(current);
  queue.splice(0).forEach(discard);
  current = undefined;
  audio.pause();
  audio.removeAttribute('src');
  audio.load(); // ends the download
  speaking.value = undefined;
  isBlocked.value = false;
}

function advance(): void {
  current = queue.shift();
  speaking.value = current?.id;
  if (!current) return;
  audio.src = current.url;
  start();
}

function start(): void {
  audio.play().then(
    () => (isUnlocked = true),
    (error: unknown) => {
      if (error instanceof Error && error.name === 'NotAllowedError') waitForGesture();
      // Any other rejection is an `error` event, too, or the end by `stopPlayback`.
    },
  );
}

function waitForGesture(): void {
  isBlocked.value = true;
  const resume = () => {
    removeEventListener('pointerup', resume);
    removeEventListener('keydown', resume);
    isBlocked.value = false;
    if (current) start();
  };
  addEventListener('pointerup', resume);
  addEventListener('keydown', resume);
}

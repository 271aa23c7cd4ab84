/**
 * Plays the sounds of the page: a queue of clips, and two `<audio>` elements, so that one loads the next clip while the
 * other plays. Safari plays only elements that have played in a click, so call `unlock` in every click that may lead to
 * speech.
 */
import { batch, computed, signal } from '@preact/signals';
import { deleteClip } from './clips.ts';
import type { Failure } from './failure.ts';
import { encodeWav } from './wav.ts';

interface Sound {
  /** Identifies the button that belongs to the sound. */
  readonly id: string;
  readonly url: string;
  /** Id of a clip that was created for this sound. */
  readonly ownClip?: string;
  /** The spoken text. */
  readonly text?: string;
}

interface QueuedSound extends Sound {
  /** Called when the sound begins to play, or is dropped. */
  readonly settle: () => void;
}

let player = createPlayer();
/** The player that loads the first sound of the queue. */
let spare = createPlayer();
const queue: QueuedSound[] = [];
const current = signal<QueuedSound | undefined>(undefined);
let isUnlocked = false;
let stopping = new AbortController();

/** Id of the text that is being read, even while its next sound is being created. */
export const reading = signal<string | undefined>(undefined);
/** Id of the sound that is playing, loading or being created. */
export const speaking = computed(() => current.value?.id ?? reading.value);
/** The text of the sound that is playing. Undefined for a clip of the model, whose text the page does not know. */
export const spokenText = computed(() => current.value?.text);
/** True if the browser waits for a user gesture; playback is not retried without one. */
export const isBlocked = signal(false);
export const speakerFailure = signal<Failure | undefined>(undefined);

function createPlayer(): HTMLAudioElement {
  const audio = new Audio();
  const isPlaying = () => audio === player && current.peek() !== undefined;
  audio.addEventListener('ended', () => {
    if (isPlaying()) advance();
  });
  audio.addEventListener('error', () => {
    if (isPlaying()) fail();
  });
  return audio;
}

export function unlock(): void {
  if (isUnlocked || current.peek()) return;
  const silence = URL.createObjectURL(encodeWav(new Float32Array(400), 8_000)); // 50 ms
  for (const audio of [player, spare]) {
    audio.src = silence;
    audio.play().then(
      () => (isUnlocked = true),
      () => undefined, // the next click tries again
    );
  }
}

/** Plays after the sounds in the queue. Resolves when the sound begins to play, or is dropped. */
export function enqueue(sound: Sound): Promise<void> {
  speakerFailure.value = undefined;
  return new Promise((settle) => {
    queue.push({ ...sound, settle });
    if (current.peek()) preload();
    else advance();
  });
}

/** Stops everything else and plays immediately. */
export function play(sound: Sound): void {
  stopPlayback();
  void enqueue(sound);
}

/** Aborts with the next `stopPlayback`. */
export const untilStopped = (): AbortSignal => stopping.signal;

/** Stops immediately and clears the queue. */
export function stopPlayback(): void {
  const dropped = [current.peek(), ...queue.splice(0)];
  stopping.abort();
  stopping = new AbortController();
  batch(() => {
    current.value = reading.value = undefined;
    isBlocked.value = false;
  });
  empty(player);
  empty(spare);
  for (const sound of dropped) discard(sound);
}

function discard(sound: QueuedSound | undefined): void {
  sound?.settle();
  if (sound?.ownClip !== undefined) deleteClip(sound.ownClip);
}

function advance(): void {
  const played = current.peek();
  const next = (current.value = queue.shift());
  [player, spare] = [spare, player];
  empty(spare);
  discard(played);
  if (!next) return;
  next.settle();
  load(player, next);
  if (player.error) return fail(); // it failed while it was the spare player
  start();
  preload();
}

function preload(): void {
  if (queue[0]) load(spare, queue[0]);
}

function load(audio: HTMLAudioElement, { url }: Sound): void {
  if (audio.src !== url) audio.src = url;
}

function empty(audio: HTMLAudioElement): void {
  audio.pause();
  audio.removeAttribute('src');
  audio.load(); // ends the download
}

/** The reading of a text ends with the first piece that cannot be played. */
function fail(): void {
  if (current.peek()?.ownClip === undefined) advance();
  else stopPlayback();
  speakerFailure.value = { text: 'The clip could not be played. Clips expire after a short time.' };
}

function start(): void {
  player.play().then(
    () => (isUnlocked = true),
    (error: unknown) => {
      if (error instanceof Error && error.name === 'NotAllowedError') waitForGesture();
      // Any other rejection is also an `error` event, or was caused by `stopPlayback`.
    },
  );
}

function waitForGesture(): void {
  isBlocked.value = true;
  const resume = () => {
    removeEventListener('pointerup', resume);
    removeEventListener('keydown', resume);
    isBlocked.value = false;
    if (!current.peek()) return;
    start();
    spare.load(); // during a user gesture, this unlocks the player
  };
  addEventListener('pointerup', resume);
  addEventListener('keydown', resume);
}

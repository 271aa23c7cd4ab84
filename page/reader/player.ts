/** Plays the recording that the reader shows. */
import { batch, effect, signal } from '@preact/signals';
import { stopPlayback } from '../playback.ts';
import { opened } from './recordings.ts';

const audio = new Audio();

/** Position in milliseconds; undefined until it has played. */
export const position = signal<number | undefined>(undefined);
/** In milliseconds; undefined if the browser does not know it. */
export const duration = signal<number | undefined>(undefined);
export const isPlaying = signal(false);
/** True if the browser cannot play the recording. */
export const isUnplayable = signal(false);

export const speeds = [1, 1.25, 1.5, 2, 0.75] as const;
export const speed = signal<number>(1);

let url: string | undefined;

/** The file of the open recording; the same file is not loaded again. */
let loaded: File | undefined;
effect(() => {
  const file = opened.value?.file;
  if (file === loaded) return;
  loaded = file;
  batch(() => {
    position.value = duration.value = undefined;
    isPlaying.value = isUnplayable.value = false;
  });
  audio.pause();
  if (url !== undefined) URL.revokeObjectURL(url);
  url = file && URL.createObjectURL(file);
  if (url === undefined) audio.removeAttribute('src');
  else audio.src = url;
});

effect(() => {
  audio.defaultPlaybackRate = audio.playbackRate = speed.value;
});

audio.addEventListener('loadedmetadata', () => {
  // A recording made by a browser has no length.
  if (Number.isFinite(audio.duration)) duration.value = audio.duration * 1_000;
});
audio.addEventListener('error', () => {
  if (loaded) isUnplayable.value = true;
});
audio.addEventListener('seeked', read);
for (const event of ['play', 'pause', 'ended'] as const) {
  audio.addEventListener(event, () => {
    isPlaying.value = !audio.paused;
    if (isPlaying.value) requestAnimationFrame(follow);
  });
}

/** The browser's events are too infrequent to follow words. */
function follow(): void {
  read();
  if (isPlaying.peek()) requestAnimationFrame(follow);
}

function read(): void {
  position.value = audio.currentTime * 1_000;
}

export function seek(ms: number): void {
  audio.currentTime = ms / 1_000;
  position.value = ms;
}

/** Call only from a user gesture, because browsers block autoplay. */
export function playFrom(ms: number): void {
  if (!loaded || isUnplayable.value) return;
  seek(ms);
  start();
}

export function toggle(): void {
  if (audio.paused) start();
  else audio.pause();
}

function start(): void {
  stopPlayback();
  audio.play().catch(() => undefined); // an `error` event, or paused before it began
}

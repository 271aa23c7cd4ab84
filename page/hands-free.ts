/**
 * Hands-free mode: listens, sends each utterance, reads the answer aloud, and listens again. The microphone is paused while
 * it speaks, unless the user may interrupt it.
 */
import { batch, computed, effect, signal } from '@preact/signals';
import { levelOf, loudness } from './gate.ts';
import { stopTranscribing, transcribe, transcribing } from './transcription.ts';
import { level, onGone, useMicrophone } from './microphone.ts';
import { preferences } from './preferences.ts';
import { ask, isAnswering, stopAnswer } from './run.ts';
import { speaking } from './playback.ts';
import { readSamples } from './recorder.ts';
import { announce } from './announcements.ts';
import { UtteranceCutter } from './utterance-cutter.ts';
import { encodeWav } from './wav.ts';

export type HandsFree = 'off' | 'asking' | 'listening' | 'recording' | 'transcribing' | 'answering' | 'speaking';

const power = signal<'off' | 'asking' | 'on'>('off');
const isRecording = signal(false);
/** The utterance that is at work, to the end of its run: there are moments between the calls. */
const utteranceAtWork = signal<Float32Array | undefined>(undefined);
export const isMuted = signal(false);

export const handsFree = computed((): HandsFree => {
  if (power.value !== 'on') return power.value;
  if (transcribing.value) return 'transcribing';
  if (speaking.value !== undefined) return 'speaking';
  if (isAnswering.value || utteranceAtWork.value) return 'answering';
  return isRecording.value ? 'recording' : 'listening';
});

const isOpen = computed(
  () =>
    handsFree.value === 'listening' ||
    handsFree.value === 'recording' ||
    (handsFree.value === 'speaking' && preferences.value.bargeIn),
);

const rate = 16_000;
let session: AbortController | undefined;
let cutter: UtteranceCutter | undefined;

const isPaused = computed(() => isMuted.value || !isOpen.value);
// Nothing from before a pause belongs to the next utterance.
effect(() => {
  if (isPaused.value) cutter?.take();
});

/** Announced after each answer, too: users who do not see the page wait for it. */
const isListening = computed(() => handsFree.value === 'listening' && !isMuted.value);
effect(() => {
  if (isListening.value) announce('Listening.');
});

/** In a click only. */
export async function startHandsFree(): Promise<void> {
  if (power.value !== 'off') return;
  power.value = 'asking';
  isMuted.value = false;
  const { signal } = (session = new AbortController());
  const isMicrophoneOpen = await useMicrophone(signal, async (stream) => {
    await readSamples(stream, signal, onFrame);
    onGone(stream, endWithLastUtterance);
  });
  if (signal.aborted) return;
  if (!isMicrophoneOpen) return stopHandsFree();
  keepAwake(signal);
  power.value = 'on';
}

export function stopHandsFree(): void {
  if (session && !session.signal.aborted && utteranceAtWork.value) stopTranscribing(); // its transcript would be sent
  session?.abort();
  cutter = undefined;
  isRecording.value = false;
  power.value = 'off';
}

/** Ends the answer, and listens again. */
export function interrupt(): void {
  stopTranscribing();
  stopAnswer();
}

export function toggleMute(): void {
  isMuted.value = !isMuted.value;
  if (isMuted.value) announce('Muted.');
}

function onFrame(frame: Float32Array, sampleRate: number): void {
  level.value = isPaused.peek() ? 0 : loudness(levelOf(frame));
  if (isPaused.peek()) return;
  cutter ??= new UtteranceCutter(sampleRate, { pauseMs: () => preferences.peek().pauseMs });
  const utterance = cutter.push(frame);
  isRecording.value = cutter.isRecording;
  if (cutter.isRecording && speaking.peek() !== undefined) giveWay();
  if (utterance) void answerUtterance(utterance, sampleRate);
}

/** The user speaks over the answer: it ends, and nothing pauses the microphone in between. */
function giveWay(): void {
  batch(() => {
    stopAnswer();
    utteranceAtWork.value = undefined;
  });
}

async function answerUtterance(utterance: Float32Array, sampleRate: number): Promise<void> {
  utteranceAtWork.value = utterance;
  const text = await transcribe(toFile(utterance, sampleRate));
  if (text !== undefined) await ask(text, true);
  if (utteranceAtWork.peek() === utterance) utteranceAtWork.value = undefined;
}

/** The microphone is gone: the utterance so far is still sent. */
function endWithLastUtterance(): void {
  const last = isRecording.value ? cutter?.take() : undefined;
  const sampleRate = cutter?.rate;
  stopHandsFree();
  if (last && sampleRate !== undefined) void answerUtterance(last, sampleRate);
}

async function toFile(samples: Float32Array, from: number): Promise<File> {
  const context = new OfflineAudioContext(1, Math.ceil((samples.length / from) * rate), rate);
  const buffer = context.createBuffer(1, samples.length, from);
  buffer.getChannelData(0).set(samples);
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(context.destination);
  source.start();
  const resampled = await context.startRendering();
  return new File([encodeWav(resampled.getChannelData(0), rate)], 'utterance.wav', { type: 'audio/wav' });
}

/** Keeps the screen on until the signal aborts. The browser takes the lock away from a hidden page, and may refuse it. */
function keepAwake(signal: AbortSignal): void {
  let lock: WakeLockSentinel | undefined;
  const request = async () => {
    if (document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
    try {
      lock = await navigator.wakeLock.request('screen');
      if (signal.aborted) await lock.release();
    } catch {
      // Refused, such as on low battery: the screen may go off.
    }
  };
  const onChange = () => void request();
  document.addEventListener('visibilitychange', onChange);
  signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', onChange);
    void lock?.release();
  });
  void request();
}

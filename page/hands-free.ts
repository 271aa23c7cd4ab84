/**
 * Hands-free mode: listens, sends each utterance, reads the answer aloud, and listens again. While it speaks, the
 * microphone is paused, unless the user may interrupt by speaking.
 */
import { computed, effect, signal } from '@preact/signals';
import { levelOf, loudness } from '../lib/voice-gate.ts';
import { textOf } from './conversation-state.ts';
import { isEcho } from './echo.ts';
import { canInterrupt, isOpen, onPress, onVoice, stateOf, type Facts } from './hands-free-state.ts';
import { stopTranscribing, transcribeSpeech, transcribing, undelivered } from './transcription.ts';
import { cancelsEcho, level, onGone, useMicrophone } from './microphone.ts';
import { preferences } from './preferences.ts';
import { ask, isAnswering, stopAnswer, turns } from './run.ts';
import { speaking } from './playback.ts';
import { readSamples } from './recorder.ts';
import { announce } from './announcements.ts';
import { UtteranceCutter } from './utterance-cutter.ts';
import { encodeWav } from './wav.ts';

const microphone = signal<Facts['microphone']>('off');
const isRecording = signal(false);
/** The utterance that is being transcribed or answered. Between the two steps, neither of their signals is set. */
const utteranceAtWork = signal<File | Promise<File> | undefined>(undefined);
export const isMuted = signal(false);
/** Whether the microphone has picked up the page's own answer, which it had interrupted. */
export const hearsItself = signal(false);

export const handsFree = computed(() =>
  stateOf({
    microphone: microphone.value,
    isMuted: isMuted.value,
    isRecording: isRecording.value,
    isAtWork: utteranceAtWork.value !== undefined || transcribing.value !== undefined || isAnswering.value,
    isSpeaking: speaking.value !== undefined,
  }),
);

export const canInterruptBySpeaking = computed(
  () => !hearsItself.value && canInterrupt(preferences.value.bargeIn, cancelsEcho.value),
);

const isPaused = computed(
  () => !isOpen({ state: handsFree.value, isMuted: isMuted.value, canInterrupt: canInterruptBySpeaking.value }),
);

const rate = 16_000;
let session: AbortController | undefined;
let cutter: UtteranceCutter | undefined;
/** The text of the answer that the current utterance has interrupted. */
let interrupted: string | undefined;

// Nothing from before a pause belongs to the next utterance.
effect(() => {
  if (!isPaused.value) return;
  cutter?.take();
  interrupted = undefined;
  isRecording.value = false;
});

/** Also announced after each answer, because users who do not see the page wait for it. */
const isListening = computed(() => handsFree.value === 'listening');
effect(() => {
  if (isListening.value) announce('Listening.');
});

/** Call only in a click handler. */
export async function startHandsFree(): Promise<void> {
  if (microphone.value === 'asking' || microphone.value === 'on') return;
  microphone.value = 'asking';
  announce(''); // otherwise, the view would repeat the last announcement
  isMuted.value = hearsItself.value = false;
  const { signal } = (session = new AbortController());
  const isMicrophoneOpen = await useMicrophone(signal, async (stream) => {
    await readSamples(stream, signal, onFrame);
    onGone(stream, endWithLastUtterance);
  });
  if (signal.aborted) return;
  if (!isMicrophoneOpen) return stopListening('failed');
  keepAwake(signal);
  microphone.value = 'on';
}

/** Speech recorded so far is still answered, unless `interrupt` is called. */
export function stopListening(end: 'off' | 'failed'): void {
  session?.abort();
  cutter = undefined;
  isRecording.value = false;
  microphone.value = end;
}

/** Ends the answer and its audio, including the answer to an utterance that is still being transcribed. */
export function interrupt(): void {
  stopTranscribing();
  stopAnswer();
}

/** Handles the large button, Space and Enter. */
export function press(): void {
  const reaction = onPress(handsFree.value);
  if (reaction === 'interrupt') interrupt();
  if (reaction === 'retry') void startHandsFree();
}

export function toggleMute(): void {
  isMuted.value = !isMuted.value;
  if (isMuted.value) announce('Muted.');
}

function onFrame(frame: Float32Array, sampleRate: number): void {
  level.value = isPaused.peek() ? 0 : loudness(levelOf(frame));
  if (isPaused.peek()) return;
  cutter ??= new UtteranceCutter(sampleRate, () => ({
    pauseMs: preferences.peek().pauseMs,
    isSpeaking: speaking.peek() !== undefined,
  }));
  const reaction = onVoice(handsFree.peek());
  const utterance = cutter.push(frame);
  isRecording.value = cutter.isRecording;
  if (cutter.isRecording && reaction === 'interrupt') {
    interrupted = lastAnswer();
    interrupt();
  }
  if (!utterance) return;
  void answer(toFile(utterance, sampleRate), interrupted);
  interrupted = undefined;
}

function lastAnswer(): string {
  const last = turns.peek().at(-1);
  return last?.role === 'assistant' ? textOf(last) : '';
}

/** `said`: what the page was saying when the utterance began. */
async function answer(utterance: File | Promise<File>, said = ''): Promise<void> {
  utteranceAtWork.value = utterance;
  const text = await transcribeSpeech(utterance);
  if (text !== undefined && isEcho(text, said)) hearsItself.value = true;
  else if (text !== undefined) await ask(text, true);
  if (utteranceAtWork.peek() === utterance) utteranceAtWork.value = undefined;
}

/** Resends the utterance that was not transcribed. */
export async function answerAgain(): Promise<void> {
  if (undelivered.value?.recording) await answer(undelivered.value.recording);
}

/** Called when the microphone is lost: the utterance so far is still sent. */
function endWithLastUtterance(): void {
  const last = isRecording.value ? cutter?.take() : undefined;
  const sampleRate = cutter?.rate;
  const said = interrupted;
  stopListening('failed');
  if (last && sampleRate !== undefined) void answer(toFile(last, sampleRate), said);
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
    if (document.visibilityState !== 'visible' || !('wakeLock' in navigator) || lock?.released === false) return;
    try {
      lock = await navigator.wakeLock.request('screen');
      if (signal.aborted) await lock.release();
    } catch {
      // The browser refused, for example on low battery: the screen may turn off.
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

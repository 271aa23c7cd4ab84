/** A conversation without hands: listens, sends each turn, speaks the answer, listens again. Deaf while it speaks, unless it may be interrupted. */
import { computed, effect, signal } from '@preact/signals';
import { levelOf, loudness } from './gate.ts';
import { stopTranscribing, transcribe, transcribing } from './transcription.ts';
import { close, explain, level, onGone, openMicrophone } from './microphone.ts';
import { preferences } from './preferences.ts';
import { ask, isAnswering, stopAnswer } from './run.ts';
import { stopPlayback, speaking, unlock } from './playback.ts';
import { announce } from './announcements.ts';
import { UtteranceCutter } from './utterance-cutter.ts';
import { keepAwake } from './wake-lock.ts';
import { encodeWav } from './wav.ts';

/** Written by the build. */
declare const WORKLET_URL: string;

export type HandsFree = 'off' | 'asking' | 'listening' | 'hearing' | 'transcribing' | 'answering' | 'speaking';

const power = signal<'off' | 'asking' | 'on'>('off');
const isHearing = signal(false);
/** From the end of a turn to the end of its run: there are moments between the calls. */
const isAtWork = signal(false);
export const isMuted = signal(false);

export const handsFree = computed((): HandsFree => {
  if (power.value !== 'on') return power.value;
  if (transcribing.value) return 'transcribing';
  if (isAnswering.value) return 'answering';
  if (speaking.value !== undefined) return 'speaking';
  if (isAtWork.value) return 'answering';
  return isHearing.value ? 'hearing' : 'listening';
});

const isOpen = computed(
  () =>
    handsFree.value === 'listening' ||
    handsFree.value === 'hearing' ||
    (handsFree.value === 'speaking' && preferences.value.bargeIn),
);

const isDeaf = computed(() => isMuted.value || !isOpen.value);

const rate = 16_000;
let session: AbortController | undefined;
let cutter: UtteranceCutter | undefined;

/** Also after each answer: who does not see the page waits for it. */
const isListening = computed(() => handsFree.value === 'listening' && !isMuted.value);
effect(() => {
  if (isListening.value) announce('Listening.');
});

/** In a click only. */
export async function startHandsFree(): Promise<void> {
  if (power.value !== 'off') return;
  stopPlayback();
  unlock();
  power.value = 'asking';
  isMuted.value = false;
  const { signal } = (session = new AbortController());
  try {
    const stream = await openMicrophone(signal);
    signal.addEventListener('abort', () => close(stream));
    await listen(stream, signal);
    onGone(stream, () => endWithLastTurn());
    keepAwake(signal);
    power.value = 'on';
  } catch (error) {
    if (signal.aborted) return;
    stopHandsFree();
    explain(error);
  }
}

export function stopHandsFree(): void {
  if (session && !session.signal.aborted && isAtWork.value) stopTranscribing(); // its turn would be sent
  session?.abort();
  cutter = undefined;
  isHearing.value = false;
  power.value = 'off';
}

/** Ends the answer, and listens again. */
export function interrupt(): void {
  stopTranscribing();
  stopAnswer();
  stopPlayback();
}

export function toggleMute(): void {
  isMuted.value = !isMuted.value;
  if (isMuted.value) announce('Muted.');
}

async function listen(stream: MediaStream, signal: AbortSignal): Promise<void> {
  const context = new AudioContext(); // at its own rate: Firefox refuses another one with a microphone
  const resume = () => void context.resume(); // after a call on iOS
  document.addEventListener('visibilitychange', resume);
  signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', resume);
    void context.close();
  });
  await context.audioWorklet.addModule(new URL(WORKLET_URL, document.baseURI));
  signal.throwIfAborted();
  const frames = new AudioWorkletNode(context, 'frames', { numberOfOutputs: 0 });
  cutter = new UtteranceCutter(context.sampleRate, { pauseMs: () => preferences.peek().pauseMs });
  // Nothing from before a pause belongs to the next turn.
  const stop = effect(() => {
    if (isDeaf.value) cutter?.take();
  });
  signal.addEventListener('abort', stop);
  frames.port.onmessage = ({ data }: MessageEvent<Float32Array>) => hear(data, context.sampleRate);
  context.createMediaStreamSource(stream).connect(frames);
}

function hear(frame: Float32Array, sampleRate: number): void {
  level.value = isDeaf.peek() ? 0 : loudness(levelOf(frame));
  if (isDeaf.peek() || !cutter) return;
  const turn = cutter.push(frame);
  isHearing.value = cutter.isHearing;
  if (cutter.isHearing && speaking.peek() !== undefined) stopPlayback();
  if (turn) void answerTurn(turn, sampleRate);
}

async function answerTurn(turn: Float32Array, sampleRate: number): Promise<void> {
  isAtWork.value = true;
  const text = await transcribe(toFile(turn, sampleRate));
  if (text !== undefined) await ask(text, true);
  isAtWork.value = false;
}

/** The microphone is gone: what was said so far is still sent. */
function endWithLastTurn(): void {
  const last = isHearing.value ? cutter?.take() : undefined;
  const sampleRate = cutter?.rate;
  stopHandsFree();
  if (last && sampleRate !== undefined) void answerTurn(last, sampleRate);
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
  return new File([encodeWav(resampled.getChannelData(0), rate)], 'turn.wav', { type: 'audio/wav' });
}

/** Records an open microphone with MediaRecorder, or reads its samples, until the signal aborts. */
import { levelOf, loudness } from '../lib/voice-gate.ts';
import { level } from './microphone.ts';

/** Written by the build. */
declare const WORKLET_URL: string;

/** The first two need no ffmpeg in the service. */
const containers = ['audio/webm;codecs=opus', 'audio/mp4;codecs=opus', 'audio/mp4'];

export interface Recording {
  /** Resolves after the signal has aborted. Contains no sound if the microphone delivered none. */
  readonly file: Promise<File>;
}

/** Resolves when the recorder has started: earlier speech is lost. Calls back with frames of 20 ms. */
export async function record(stream: MediaStream, signal: AbortSignal, onFrame: OnFrame): Promise<Recording> {
  const mimeType = containers.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, { audioBitsPerSecond: 32_000, ...(mimeType && { mimeType }) });
  const pieces: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => pieces.push(data));
  const stopped = new Promise<void>((resolve) => recorder.addEventListener('stop', () => resolve(), { once: true }));
  signal.addEventListener('abort', () => {
    if (recorder.state !== 'inactive') recorder.stop();
  });
  const onSamples: OnFrame = (frame, rate) => {
    level.value = loudness(levelOf(frame));
    onFrame(frame, rate);
  };
  readSamples(stream, signal, onSamples).catch(() => undefined); // on failure, no meter and no live words
  await started(recorder);
  return { file: stopped.then(() => fileOf(pieces, recorder.mimeType)) };
}

function started(recorder: MediaRecorder): Promise<void> {
  return new Promise((resolve, reject) => {
    recorder.addEventListener('start', () => resolve(), { once: true });
    recorder.addEventListener('error', () => reject(new Error('The browser could not record.')), { once: true });
    recorder.start(1_000);
  });
}

function fileOf(pieces: Blob[], mimeType: string): File {
  const type = mimeType.split(';')[0] ?? '';
  return new File(pieces, `recording.${type.includes('mp4') ? 'm4a' : 'webm'}`, { type });
}

type OnFrame = (samples: Float32Array, rate: number) => void;

/** Calls back with frames of 20 ms, even in a hidden tab. */
export async function readSamples(stream: MediaStream, signal: AbortSignal, onFrame: OnFrame): Promise<void> {
  const context = new AudioContext(); // at its own rate: Firefox refuses another one with a microphone
  const resume = () => void context.resume(); // needed after a phone call on iOS
  document.addEventListener('visibilitychange', resume);
  signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', resume);
    void context.close();
  });
  await context.audioWorklet.addModule(new URL(WORKLET_URL, document.baseURI));
  signal.throwIfAborted();
  const frames = new AudioWorkletNode(context, 'frames', { numberOfOutputs: 0 });
  frames.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
    if (!signal.aborted) onFrame(data, context.sampleRate);
  };
  context.createMediaStreamSource(stream).connect(frames);
}

/** The microphone: opened only in a click handler, released after every recording. */
import { signal } from '@preact/signals';
import { failureOf, type Failure } from './failure.ts';
import { captureProblemOf, captureProblemOfError, type CaptureProblem } from './capture-checks.ts';
import { stopPlayback, unlock } from './playback.ts';
import { preferences } from './preferences.ts';

export const captureProblem = signal<CaptureProblem | undefined>(
  captureProblemOf({
    isSecureContext,
    // Absent in an insecure context, although the types say otherwise.
    hasMediaDevices: 'mediaDevices' in navigator,
    hasRecorder: 'MediaRecorder' in globalThis,
  }),
);

/** A failure that has no explanation of its own. */
export const microphoneFailure = signal<Failure | undefined>(undefined);

/** True if another click cannot help. */
export const isImpossible = (): boolean =>
  captureProblem.value === 'insecure' || captureProblem.value === 'unsupported';

/** Empty until the user has allowed the microphone once. */
export const microphones = signal<readonly MediaDeviceInfo[]>([]);

/** Whether the browser removes the page's own sound from the microphone signal. */
export const cancelsEcho = signal(false);

/** 0 to 1. */
export const level = signal(0);

/** Settles with the answer to the browser's last permission prompt: only one prompt is open at a time. */
let question: Promise<unknown> = Promise.resolve();

/**
 * Call only in a click handler. Opens the microphone for `use` until the signal aborts, and stops any playback. False
 * if it was not opened: the signal has aborted, or the page shows why.
 */
export async function useMicrophone(
  signal: AbortSignal,
  use: (stream: MediaStream) => Promise<unknown>,
): Promise<boolean> {
  stopPlayback();
  unlock();
  let stream: MediaStream | undefined;
  try {
    stream = await openMicrophone(signal);
    const opened = stream;
    signal.addEventListener('abort', () => close(opened));
    await use(stream);
    signal.throwIfAborted();
    return true;
  } catch (error) {
    if (signal.aborted) return false; // the stream has already been closed
    if (stream) close(stream);
    explain(error);
    return false;
  }
}

async function openMicrophone(signal: AbortSignal): Promise<MediaStream> {
  await question; // an aborted call may have left a prompt open
  signal.throwIfAborted();
  setAudioSession('play-and-record');
  try {
    const asked = getMicrophone();
    question = asked.catch(() => undefined);
    const stream = await asked;
    if (signal.aborted) close(stream); // the browser's prompt cannot be withdrawn
    signal.throwIfAborted();
    captureProblem.value = microphoneFailure.value = undefined;
    cancelsEcho.value = isEchoCanceled(stream);
    void listMicrophones();
    return stream;
  } catch (error) {
    setAudioSession('playback');
    throw error;
  }
}

function getMicrophone(): Promise<MediaStream> {
  const { microphone } = preferences.value;
  return navigator.mediaDevices.getUserMedia({
    audio: {
      echoCancellation: { ideal: true },
      noiseSuppression: { ideal: true },
      autoGainControl: { ideal: true },
      ...(microphone !== undefined && { deviceId: { ideal: microphone } }),
    },
  });
}

/** Newer browsers name the mode; `remote-only` does not remove the sound of the page itself. */
function isEchoCanceled(stream: MediaStream): boolean {
  const mode: unknown = stream.getAudioTracks()[0]?.getSettings().echoCancellation;
  return mode === true || mode === 'all';
}

function explain(error: unknown): void {
  captureProblem.value = captureProblemOfError(error);
  if (!captureProblem.value) microphoneFailure.value = failureOf(error);
}

function close(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
  level.value = 0;
  setAudioSession('playback');
}

/** Calls back once if the device disconnects, not when the page releases it. */
export function onGone(stream: MediaStream, call: () => void): void {
  stream.getAudioTracks()[0]?.addEventListener('ended', () => {
    captureProblem.value = 'gone';
    call();
  });
}

async function listMicrophones(): Promise<void> {
  const devices = await navigator.mediaDevices.enumerateDevices();
  microphones.value = devices.filter(({ kind, deviceId }) => kind === 'audioinput' && deviceId !== '');
}

/** iOS plays audio quietly, or from the earpiece, while a page may record. */
function setAudioSession(type: 'playback' | 'play-and-record'): void {
  const { audioSession } = navigator as { audioSession?: { type: string } };
  if (audioSession) audioSession.type = type;
}

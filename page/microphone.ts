/** The microphone: opened in a click only, released after every take. */
import { signal } from '@preact/signals';
import { failureOf, type Failure } from './failure.ts';
import { captureProblemOf, captureProblemOfError, type CaptureProblem } from './capture-checks.ts';
import { preferences } from './preferences.ts';

export const captureProblem = signal<CaptureProblem | undefined>(
  captureProblemOf({
    isSecureContext,
    // Absent in an insecure context, whatever the types say.
    hasMediaDevices: 'mediaDevices' in navigator,
    hasRecorder: 'MediaRecorder' in globalThis,
  }),
);

/** A failure that is none of the obstacles. */
export const microphoneFailure = signal<Failure | undefined>(undefined);

/** Those that no click will overcome. */
export const isImpossible = (): boolean =>
  captureProblem.value === 'insecure' || captureProblem.value === 'unsupported';

/** By id; empty until the user has allowed the microphone once. */
export const microphones = signal<readonly MediaDeviceInfo[]>([]);

/** 0 to 1. */
export const level = signal(0);

/** Settles with the answer to the browser's last question: it is asked one at a time. */
let question: Promise<unknown> = Promise.resolve();

/** Rejects with the abort reason, or with what `explain` shows. */
export async function openMicrophone(signal: AbortSignal): Promise<MediaStream> {
  await question; // an aborted call may have left it open
  signal.throwIfAborted();
  setAudioSession('play-and-record');
  try {
    const asked = getMicrophone();
    question = asked.catch(() => undefined);
    const stream = await asked;
    if (signal.aborted) close(stream); // the browser's question cannot be taken back
    signal.throwIfAborted();
    captureProblem.value = microphoneFailure.value = undefined;
    void listMicrophones();
    return stream;
  } catch (error) {
    setAudioSession('playback');
    signal.throwIfAborted();
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

/** Shows why there is no recording. */
export function explain(error: unknown): void {
  captureProblem.value = captureProblemOfError(error);
  if (!captureProblem.value) microphoneFailure.value = failureOf(error);
}

export function close(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
  level.value = 0;
  setAudioSession('playback');
}

/** Calls back once if the device goes away; not after `close`. */
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

/** iOS plays low, or from the earpiece, while a page may record. */
function setAudioSession(type: 'playback' | 'play-and-record'): void {
  const { audioSession } = navigator as { audioSession?: { type: string } };
  if (audioSession) audioSession.type = type;
}

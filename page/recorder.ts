/** One recording, from a click to the next, by MediaRecorder. */
import { close, level, onGone } from './microphone.ts';
import { levelOf, loudness } from './gate.ts';

export interface Recording {
  /** The recording; without sound if the microphone gave none. */
  finish(): Promise<File>;
  drop(): void;
}

/** The first two need no ffmpeg in the service. */
const containers = ['audio/webm;codecs=opus', 'audio/mp4;codecs=opus', 'audio/mp4'];

/** Resolves when the recorder has started: what is said before is lost. Takes over the stream. */
export async function record(stream: MediaStream, call: { readonly onGone: () => void }): Promise<Recording> {
  const recorder = createRecorder(stream);
  const pieces: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => pieces.push(data));
  const stopped = new Promise<void>((resolve) => recorder.addEventListener('stop', () => resolve(), { once: true }));
  onGone(stream, call.onGone);
  const stopMeter = measure(stream);
  const end = () => {
    if (recorder.state !== 'inactive') recorder.stop();
    stopMeter();
    close(stream);
  };
  try {
    await started(recorder);
  } catch (error) {
    end();
    throw error;
  }
  return {
    async finish() {
      end();
      await stopped;
      return fileOf(pieces, recorder.mimeType);
    },
    drop: end,
  };
}

function createRecorder(stream: MediaStream): MediaRecorder {
  const mimeType = containers.find((type) => MediaRecorder.isTypeSupported(type));
  try {
    return new MediaRecorder(stream, { audioBitsPerSecond: 32_000, ...(mimeType && { mimeType }) });
  } catch (error) {
    close(stream);
    throw error;
  }
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

/** Keeps `level` up to date until the returned function is called. */
function measure(stream: MediaStream): () => void {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 1_024;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  let frame = requestAnimationFrame(function look() {
    analyser.getFloatTimeDomainData(samples);
    level.value = loudness(levelOf(samples));
    frame = requestAnimationFrame(look);
  });
  return () => {
    cancelAnimationFrame(frame);
    level.value = 0;
    void context.close();
  };
}

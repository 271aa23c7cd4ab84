/**
 * Detects speech with Silero's model. It is a separate program, because sherpa-onnx exits on invalid files and contains
 * eSpeak NG (GPL-3.0).
 *
 * Question: `WavSlice`. Answers: `HostAnswer`, in order. Recordings take turns of 2 s of audio each.
 */
import { readSlice, sampleRate, type WavSlice } from '../../../lib/wav.ts';
import { serveQuestions, type Question } from '../host-program/host-program.ts';
import { toFloats } from '../../../lib/samples.ts';
import { loadLibrary, type VoiceActivityDetector } from '../sherpa/program.ts';

/** The program's only argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
  /** Path of silero_vad.onnx. */
  readonly model: string;
}

export interface HostAnswer {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The longest stretch of speech, in samples, that is kept in memory; a longer one is reported in parts. Otherwise, the
 * library would cut it after 20 s, and require louder speech from then on.
 */
const stretch = 10 * sampleRate;

/** Samples per call: three windows of the model, because the library copies the stretch with each call. */
const step = 3 * 512;

const { library, model } = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { Vad } = loadLibrary(library);
/** A short word counts as speech; a short pause does not end it. */
const sileroVad = { model, threshold: 0.5, minSpeechDuration: 0.1, minSilenceDuration: 0.25, windowSize: 512 };
const config = { sileroVad, sampleRate, numThreads: 1, provider: 'cpu', debug: 0 };
const open = (): VoiceActivityDetector => new Vad(config, 30);
/** Loading a detector takes as long as processing 10 s of audio. */
const idle = [open()];

serveQuestions(async (question, { say, signal }) => {
  const detector = idle.pop() ?? open();
  const report = () => {
    for (; !detector.isEmpty(); detector.pop()) {
      const { start, samples } = detector.front(false);
      say({ startMs: msOf(start), endMs: msOf(start + samples.length) } satisfies HostAnswer);
    }
  };
  try {
    let unbroken = 0;
    for await (const chunk of readSlice(question as Question & WavSlice)) {
      signal.throwIfAborted();
      for (let at = 0; at < chunk.length; at += step) {
        detector.acceptWaveform(toFloats(chunk.subarray(at, at + step)));
        unbroken += step;
        if (unbroken >= stretch) {
          detector.flush();
          unbroken = 0;
        }
        report();
      }
    }
    detector.flush();
    report();
  } finally {
    detector.reset();
    idle.push(detector);
  }
});

function msOf(samples: number): number {
  return Math.round((1000 * samples) / sampleRate);
}

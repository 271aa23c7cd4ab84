/**
 * Keeps one model in memory and transcribes with it. It is a separate program, because sherpa-onnx exits on invalid
 * files and contains eSpeak NG (GPL-3.0).
 *
 * A request is a `WavSlice`; the responses are `RecognizedPiece`s, in order. A piece cannot be aborted once it has
 * started.
 */
import { readSlice, sampleRate, type WavSlice } from '../../lib/wav.ts';
import { serveQuestions, type Question } from '../lib/host-program/host-program.ts';
import { loadLibrary, toFloats } from '../lib/sherpa/program.ts';
import { piecesOf } from './pieces.ts';

/** The only command-line argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
  /** The `modelConfig` of sherpa-onnx. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly threads: number;
}

export interface RecognizedPiece {
  readonly startMs: number;
  readonly endMs: number;
  readonly tokens: readonly string[];
  /** Start of each token, in milliseconds from the start of the slice. */
  readonly starts: readonly number[];
}

const { library, config, threads } = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { OfflineRecognizer } = loadLibrary(library);
const recognizer = new OfflineRecognizer({
  modelConfig: { ...config, numThreads: threads, debug: 0, provider: 'cpu' },
});

serveQuestions(async (question, { say, signal }) => {
  for await (const { start, samples } of piecesOf(readSlice(question as Question & WavSlice))) {
    signal.throwIfAborted();
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: toFloats(samples), sampleRate });
    const { tokens, timestamps } = await recognizer.decodeAsync(stream);
    const startMs = msOf(start);
    const starts = timestamps.map((seconds) => startMs + Math.round(1000 * seconds));
    say({ startMs, endMs: msOf(start + samples.length), tokens, starts } satisfies RecognizedPiece);
  }
});

function msOf(samples: number): number {
  return Math.round((1000 * samples) / sampleRate);
}

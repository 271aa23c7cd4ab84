/**
 * Keeps one model in memory and transcribes with it. It is a separate program, because sherpa-onnx exits on invalid
 * files and contains eSpeak NG (GPL-3.0).
 *
 * A request is a `HostQuestion`; the responses are `RecognizedPiece`s, in order. A piece cannot be aborted once it has
 * started.
 */
import { toFloats } from '../../lib/samples.ts';
import { readSlice, sampleRate, type WavSlice } from '../../lib/wav.ts';
import { serveQuestions, type Question } from '../lib/host-program/host-program.ts';
import { loadLibrary, type Recognized } from '../lib/sherpa/program.ts';
import { piecesOf } from './pieces.ts';

/** The only command-line argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
  /** The `modelConfig` of sherpa-onnx. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly threads: number;
  readonly pieceSeconds: number;
  /** The member of `config` whose `language` is set to the language of the question, if the model accepts one. */
  readonly hint?: string;
}

export interface HostQuestion extends WavSlice {
  /** Default: the model detects it. */
  readonly language?: string | undefined;
}

export interface RecognizedPiece {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** Such as `<|en|>`; "" if the model does not report it. */
  readonly lang: string;
  readonly tokens: readonly string[];
  /** Start of each token, in milliseconds from the start of the slice. Empty if the model reports none. */
  readonly starts: readonly number[];
}

const { library, config, threads, pieceSeconds, hint } = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { OfflineRecognizer } = loadLibrary(library);
const recognizer = new OfflineRecognizer(configFor(''));
/** Settles when the latest piece of a model with a hint is transcribed. */
let last: Promise<unknown> = Promise.resolve();

await recognize(tone(), ''); // a file that is damaged fails here instead of in a request

serveQuestions(async (question, { say, signal }) => {
  const { language = '', ...slice } = question as Question & HostQuestion;
  for await (const { start, samples } of piecesOf(readSlice(slice), pieceSeconds)) {
    signal.throwIfAborted();
    const { timestamps, text, lang, tokens } = await recognize(toFloats(samples), language);
    const startMs = msOf(start);
    const starts = timestamps.map((seconds) => startMs + Math.round(1000 * seconds));
    const endMs = msOf(start + samples.length);
    say({ startMs, endMs, text, lang, tokens, starts } satisfies RecognizedPiece);
  }
});

/** With a hint, transcribes one piece at a time, because setting the language affects pieces in progress. */
function recognize(samples: Float32Array, language: string): Promise<Recognized> {
  if (hint === undefined) return decode(samples);
  const next = last.then(() => {
    recognizer.setConfig(configFor(language));
    return decode(samples);
  });
  last = next.catch(() => undefined);
  return next;
}

async function decode(samples: Float32Array): Promise<Recognized> {
  const stream = recognizer.createStream();
  stream.acceptWaveform({ samples: padded(samples), sampleRate });
  return recognizer.decodeAsync(stream);
}

function configFor(language: string): object {
  const hinted = hint === undefined ? {} : { [hint]: { ...(config[hint] as object), language } };
  return { modelConfig: { ...config, ...hinted, numThreads: threads, debug: 0, provider: 'cpu' } };
}

/** Pads audio to 0.5 s, because some models fail on less than 0.1 s. */
function padded(samples: Float32Array): Float32Array {
  if (samples.length >= sampleRate / 2) return samples;
  const longer = new Float32Array(sampleRate / 2);
  longer.set(samples);
  return longer;
}

/** 0.5 s of 440 Hz. */
function tone(): Float32Array {
  return Float32Array.from({ length: sampleRate / 2 }, (_, i) => 0.3 * Math.sin((2 * Math.PI * 440 * i) / sampleRate));
}

function msOf(samples: number): number {
  return Math.round((1000 * samples) / sampleRate);
}

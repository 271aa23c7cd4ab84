/**
 * Finds who speaks, with a segmentation and a speaker embedding model. It is a separate program, because sherpa-onnx
 * exits on invalid files, cannot be canceled, and contains eSpeak NG (GPL-3.0).
 *
 * A request is a `HostQuestion`; the responses are `HostProgress` and `HostSpans`, and the last one is `HostDistances`.
 * The engine asks one question at a time.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { toFloats } from '../../../lib/samples.ts';
import { lengthOf, readSlice, sampleRate, samplesPerMs, type WavSlice } from '../../../lib/wav.ts';
import { serveQuestions, type Question } from '../host-program/host-program.ts';
import { loadLibrary } from '../sherpa/program.ts';

/** The only command-line argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
  readonly segmentation: string;
  readonly embedding: string;
  /** Cosine distance above which two voices are two speakers. */
  readonly threshold: number;
}

export interface HostQuestion extends WavSlice {
  /** Shift of the windows of 10 s, as a share of their length. */
  readonly step: number;
  /** The number of speakers, instead of the threshold. */
  readonly clusters?: number | undefined;
  /** Speech of known speakers. */
  readonly references: readonly WavSlice[];
}

export interface HostProgress {
  /** From 0 to 1. */
  readonly progress: number;
}

export interface HostSpans {
  /** Start and end in milliseconds from the start of the slice, and the index of the speaker. */
  readonly spans: readonly (readonly [number, number, number])[];
}

/** The last response. */
export interface HostDistances {
  /** For each reference, the distance of its voice to that of each speaker, from 0 to 2. */
  readonly distances: readonly (readonly number[])[];
}

interface Turn {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}

/** The part of the addon that its package does not export. */
interface Addon {
  offlineSpeakerDiarizationProcessAsync(
    handle: unknown,
    samples: Float32Array,
    onProgress: (done: number, total: number) => void,
  ): Promise<readonly Turn[]>;
}

const { library, segmentation, embedding, threshold } = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { OfflineSpeakerDiarization, SpeakerEmbeddingExtractor } = loadLibrary(library);
const addon = createRequire(join(library, 'package.json'))('./addon.js') as Addon;
const model = { numThreads: 1, provider: 'cpu', debug: 0 };

/** The segmentation takes about a tenth of the time, and reports no progress. */
const segmentationShare = 0.1;
/** Spans per message: a line has at most 1 MiB. */
const batch = 1_000;
/** Maximum seconds of a speaker's speech to compare with a reference. */
const mostSeconds = 30;

const tone = Float32Array.from({ length: 3 * sampleRate }, (_, i) => 0.3 * Math.sin(i / 5));
await find(tone, { step: 0.1 }, () => undefined); // a file that is damaged fails here instead of in a request

serveQuestions(async (question, { say, signal }) => {
  signal.addEventListener('abort', () => process.exit(0)); // the library cannot be stopped
  const { references, ...slice } = question as Question & HostQuestion;
  let samples = await floatsOf(slice);
  const turns = await find(samples, slice, (progress) => say({ progress } satisfies HostProgress));
  const spans = turns.map(({ start, end, speaker }) => [msOf(start), msOf(end), speaker] as const);
  for (let at = 0; at < spans.length; at += batch) say({ spans: spans.slice(at, at + batch) } satisfies HostSpans);
  if (references.length === 0) return { distances: [] } satisfies HostDistances;
  samples = await floatsOf(slice);
  const extractor = new SpeakerEmbeddingExtractor({ model: embedding, ...model });
  const voiceOf = (sound: Float32Array) => {
    const stream = extractor.createStream();
    stream.acceptWaveform({ samples: sound, sampleRate });
    stream.inputFinished();
    return extractor.isReady(stream) ? extractor.compute(stream, false) : undefined;
  };
  const count = turns.reduce((most, { speaker }) => Math.max(most, speaker + 1), 0);
  const voices = Array.from({ length: count }, (_, speaker) => voiceOf(speechOf(samples, turns, speaker)));
  const distances: number[][] = [];
  for (const reference of references) {
    const known = voiceOf(await floatsOf(reference));
    distances.push(voices.map((voice) => distance(known, voice)));
  }
  return { distances } satisfies HostDistances;
});

/** Returns the samples of a slice. It reads in chunks, so that memory holds only one copy of a long recording. */
async function floatsOf(slice: WavSlice): Promise<Float32Array> {
  const floats = new Float32Array(lengthOf(slice) * samplesPerMs);
  let read = 0;
  for await (const samples of readSlice(slice)) {
    floats.set(toFloats(samples), read);
    read += samples.length;
  }
  return floats;
}

/** Finds the turns of all speakers. Frees `samples`, which the library copies when the call starts. */
async function find(
  samples: Float32Array,
  { step, clusters = -1 }: Pick<HostQuestion, 'step' | 'clusters'>,
  onProgress: (progress: number) => void,
): Promise<readonly Turn[]> {
  const { handle } = new OfflineSpeakerDiarization({
    segmentation: { pyannote: { model: segmentation, windowShiftRatio: step }, ...model },
    embedding: { model: embedding, ...model },
    clustering: { numClusters: clusters, threshold },
    minDurationOn: 0.3,
    minDurationOff: 0.5,
  });
  const turns = addon.offlineSpeakerDiarizationProcessAsync(handle, samples, (done, total) => {
    onProgress(segmentationShare + ((1 - segmentationShare) * done) / total);
  });
  (samples.buffer as ArrayBuffer).transfer(0);
  return await turns;
}

/** Joins the longest turns of a speaker, up to `mostSeconds`. */
function speechOf(samples: Float32Array, turns: readonly Turn[], speaker: number): Float32Array {
  const own = turns.filter((turn) => turn.speaker === speaker).sort((a, b) => b.end - b.start - (a.end - a.start));
  const speech = new Float32Array(mostSeconds * sampleRate);
  let length = 0;
  for (const { start, end } of own) {
    const part = samples.subarray(start * sampleRate, end * sampleRate).subarray(0, speech.length - length);
    speech.set(part, length);
    length += part.length;
  }
  return speech.subarray(0, length);
}

/** Cosine distance, 0 to 2; 2 if a voice is unknown. */
function distance(one: Float32Array | undefined, other: Float32Array | undefined): number {
  if (!one || !other) return 2;
  let [product, first, second] = [0, 0, 0];
  for (const [i, a] of one.entries()) {
    const b = other[i] ?? 0;
    product += a * b;
    first += a * a;
    second += b * b;
  }
  const cosine = product / Math.sqrt(first * second);
  return Number.isFinite(cosine) ? Math.max(0, 1 - cosine) : 2; // rounding may exceed 1
}

const msOf = (seconds: number): number => Math.round(1000 * seconds);

/**
 * A CTC model of NeMo made from nothing, which the real library transcribes tones with: what a voice of letters says
 * (voice-model.ts), or the words of the tone model (tone-model.ts). A lost or doubled sound changes the text.
 *
 * How it works: a linear layer over the log mel spectrum, with one band for each token. The loudest band wins, and the blank
 * where none is far above the average.
 */
import { Graph, port, type Metadata } from './onnx-writer.ts';
import { writeFiles } from './temporary.ts';
import { words, wordTone } from './tone-model.ts';
import { letters, letterTones, melCenters } from './voice-model.ts';

export type Code = 'letters' | 'words';

export interface RecognizerOptions {
  readonly code?: Code;
  /** Frames of 10 ms per output of the model. */
  readonly subsampling?: number;
  /** Instead of the model's own metadata; undefined removes one. */
  readonly metadata?: Metadata;
  /** With layers that change nothing and take some 1.5 seconds of processor time for a piece of 30 s. */
  readonly isSlow?: boolean;
}

const codes: Readonly<Record<Code, { readonly symbols: readonly string[]; readonly tones: readonly number[] }>> = {
  letters: { symbols: letters.map((letter) => letter.replace(' ', '▁')), tones: letterTones() },
  words: { symbols: words.map((word) => `▁${word}`), tones: words.map(wordTone) },
};

const bands = 80;

/** The files, by name. */
export function recognizerModel({ code = 'letters', subsampling = 1, ...more }: RecognizerOptions = {}) {
  const { symbols, tones } = codes[code];
  const size = symbols.length + 1;
  const usual = { model_type: 'EncDecCTCModelBPE', vocab_size: symbols.length, subsampling_factor: subsampling, normalize_type: '' }; // prettier-ignore
  const onnx = graphOf(tones, subsampling, more.isSlow).model({
    inputs: [port('audio_signal', 'float', 'batch', bands, 'time'), port('length', 'int64', 'batch')],
    outputs: [port('logprobs', 'float', 'batch', 'frames', size)],
    metadata: { ...usual, ...more.metadata },
  });
  return { 'model.onnx': onnx, 'tokens.txt': [...symbols, '<blk>'].map((symbol, id) => `${symbol} ${id}\n`).join('') };
}

/** Writes the files into the folder, and returns it. */
export async function writeRecognizer(folder: string, options: RecognizerOptions = {}): Promise<string> {
  return writeFiles(folder, recognizerModel(options));
}

function graphOf(tones: readonly number[], subsampling: number, isSlow = false): Graph {
  const size = tones.length + 1;
  const bias = new Float32Array(size);
  bias[size - 1] = 8;
  const g = new Graph();
  const recognized = frames(g, subsampling);
  const weights = g.floats(bandWeights(melCenters(), tones, size), [bands, size]);
  const logits = g.op('Add', [g.op('MatMul', [recognized, weights]), g.floats(bias)]);
  g.op(
    'LogSoftmax',
    [isSlow ? g.op('Add', [logits, slowZeros(g, recognized, size)]) : logits],
    { axis: -1 },
    'logprobs',
  );
  return g;
}

function slowZeros(g: Graph, frames: string, size: number): string {
  const [layers, width] = [96, 512];
  const zeros = (rows: number, columns: number) => g.floats(new Float32Array(rows * columns), [rows, columns]);
  const layer = zeros(width, width);
  let x = g.op('MatMul', [frames, zeros(bands, width)]);
  for (let count = 0; count < layers; count++) x = g.op('MatMul', [x, layer]);
  return g.op('MatMul', [x, zeros(width, size)]);
}

/** One weight for each tone, at its mel band. */
export function bandWeights(centers: readonly number[], tones: readonly number[], width: number, offset = 0) {
  const weights = new Float32Array(centers.length * width);
  tones.forEach((hz, token) => {
    const distances = centers.map((center) => Math.abs(center - hz));
    weights[distances.indexOf(Math.min(...distances)) * width + offset + token] = 1;
  });
  return weights;
}

/** The energy of each tone in samples, [1,1,T], at each stride: a Hann window of sines and cosines. */
export function toneEnergy(
  g: Graph,
  samples: string,
  tones: readonly number[],
  { window, stride }: { readonly window: number; readonly stride: number },
): string {
  const hann = Float64Array.from(
    { length: window },
    (_, i) => (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / window)) / window,
  );
  const filterOf = (hz: number, wave: (x: number) => number) =>
    Array.from(hann, (loudness, i) => loudness * wave((2 * Math.PI * hz * i) / 16_000));
  const filters = tones.flatMap((hz) => [...filterOf(hz, Math.cos), ...filterOf(hz, Math.sin)]);
  const weights = g.floats(Float32Array.from(filters), [2 * tones.length, 1, window]);
  const filtered = g.op('Conv', [samples, weights], { strides: [stride], kernel_shape: [window] });
  const pairs = g.op('Reshape', [g.op('Mul', [filtered, filtered]), g.constant([1, tones.length, 2, -1])]);
  return g.op('ReduceSum', [pairs, g.constant([2])], { keepdims: 0 });
}

/** The spectrum less its mean, one frame of `subsampling`. */
export function frames(g: Graph, subsampling: number): string {
  const mean = g.op('ReduceMean', ['audio_signal'], { axes: [1], keepdims: 1 });
  const centered = g.op('Transpose', [g.op('Sub', ['audio_signal', mean])], { perm: [0, 2, 1] });
  const all = [g.constant([subsampling >> 1]), g.constant([2 ** 31]), g.constant([1]), g.constant([subsampling])];
  return g.op('Slice', [centered, ...all]);
}

/** Whisper models in ggml's format, as whisper-cli's `-m` takes them. What they recognize and write is up to the weights. */
import { writeFile } from 'node:fs/promises';

export interface WhisperModel {
  readonly dialect: Dialect;
  readonly shape: Shape;
  /** The texts of the first tokens, in order; the others have none. */
  readonly tokens: readonly string[];
  /** The weights of one tensor, its innermost dimension first. */
  readonly weights: (tensor: Tensor) => Float32Array;
}

/** Token ids follow from the size of the vocabulary; whisper knows an English-only model by nothing else. */
export interface Dialect {
  readonly vocabulary: number;
  readonly endOfText: number;
  readonly startOfTranscript: number;
  /** The token of the time stamp 0:00; one more for every 20 ms. */
  readonly firstTimestamp: number;
  /** Tokens that whisper puts before the text: the start and, in a multilingual model, language and task. */
  readonly promptLength: number;
}

export const multilingual: Dialect = {
  vocabulary: 51865,
  endOfText: 50257,
  startOfTranscript: 50258,
  firstTimestamp: 50364,
  promptLength: 3,
};

export const english: Dialect = {
  vocabulary: 51864,
  endOfText: 50256,
  startOfTranscript: 50257,
  firstTimestamp: 50363,
  promptLength: 1,
};

export interface Shape {
  /** Channels of encoder and decoder. */
  readonly state: number;
  readonly heads: number;
  /** Whisper tells the size of a model by this number, and takes 4 for "tiny". */
  readonly encoderBlocks: number;
  readonly decoderBlocks: number;
}

export interface Tensor {
  readonly name: string;
  /** As ggml counts them: the innermost first. */
  readonly dims: readonly number[];
}

export const audioContext = 1500;
export const textContext = 448;
export const melBands = 80;
const fftBins = 201;

export async function writeWhisperModel(path: string, model: WhisperModel): Promise<void> {
  await writeFile(path, modelFile(model));
}

export const whisperModel = (model: WhisperModel): Buffer => Buffer.concat([...modelFile(model)]);

const magic = 0x67676d6c;
const float32 = 0;
const float16 = 1;

function* modelFile({ dialect, shape, tokens, weights }: WhisperModel): Generator<Uint8Array> {
  const { state, heads, encoderBlocks, decoderBlocks } = shape;
  yield int32(magic, dialect.vocabulary);
  yield int32(audioContext, state, heads, encoderBlocks);
  yield int32(textContext, state, heads, decoderBlocks);
  yield int32(melBands, float16);
  yield int32(melBands, fftBins);
  yield bytes(melFilters());
  yield int32(tokens.length);
  yield Buffer.concat(tokens.flatMap((token) => [int32(Buffer.byteLength(token)), Buffer.from(token)]));
  for (const tensor of tensors(dialect, shape)) {
    const { name, dims } = tensor;
    // Whisper wants its matrices in half precision, and all else in single.
    const isMatrix = dims.length > 1 && name.endsWith('.weight');
    yield int32(dims.length, name.length, isMatrix ? float16 : float32, ...dims);
    yield Buffer.from(name);
    yield bytes(isMatrix ? halfPrecision(weights(tensor)) : weights(tensor));
  }
}

const int32 = (...values: number[]): Uint8Array => bytes(Int32Array.from(values));

export const bytes = (values: ArrayBufferView): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** The bits of half-precision floats; what is too small for an ordinary one is 0. (Float16Array came with Node 24.) */
export function halfPrecision(values: Float32Array): Uint16Array {
  const single = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const half = new Uint16Array(single.length);
  for (let at = 0; at < single.length; at++) {
    const bits = single[at]!;
    const exponent = ((bits >>> 23) & 0xff) - 127 + 15;
    if (exponent > 0) half[at] = ((bits >>> 16) & 0x8000) | (exponent << 10) | ((bits >>> 13) & 0x3ff);
  }
  return half;
}

/**
 * Band j is a small triangle around its frequency: bin 2j + 2 of 40 Hz each. The scale need not be whisper's, who
 * takes it from the model file.
 */
export const bandHz = (band: number): number => 80 * (band + 1);

function melFilters(): Float32Array {
  const filters = new Float32Array(melBands * fftBins);
  for (let band = 0; band < melBands; band++) filters.set([0.5, 1, 0.5], band * fftBins + 2 * band + 1);
  return filters;
}

// ----------------------------------------------------------------------------------------- what a whisper is made of

function* tensors({ vocabulary }: Dialect, { state, encoderBlocks, decoderBlocks }: Shape): Generator<Tensor> {
  yield { name: 'encoder.positional_embedding', dims: [state, audioContext] };
  yield { name: 'encoder.conv1.weight', dims: [3, melBands, state] };
  yield { name: 'encoder.conv1.bias', dims: [1, state] };
  yield { name: 'encoder.conv2.weight', dims: [3, state, state] };
  yield { name: 'encoder.conv2.bias', dims: [1, state] };
  for (let block = 0; block < encoderBlocks; block++) {
    yield* attention(`encoder.blocks.${block}.attn`, state);
    yield* perceptron(`encoder.blocks.${block}.mlp`, state);
  }
  yield* normalization('encoder.ln_post', state);
  yield { name: 'decoder.positional_embedding', dims: [state, textContext] };
  yield { name: 'decoder.token_embedding.weight', dims: [state, vocabulary] };
  yield* normalization('decoder.ln', state);
  for (let block = 0; block < decoderBlocks; block++) {
    yield* attention(`decoder.blocks.${block}.attn`, state);
    yield* attention(`decoder.blocks.${block}.cross_attn`, state);
    yield* perceptron(`decoder.blocks.${block}.mlp`, state);
  }
}

function* attention(name: string, state: number): Generator<Tensor> {
  yield* normalization(`${name}_ln`, state);
  yield { name: `${name}.query.weight`, dims: [state, state] };
  yield { name: `${name}.query.bias`, dims: [state] };
  yield { name: `${name}.key.weight`, dims: [state, state] };
  yield { name: `${name}.value.weight`, dims: [state, state] };
  yield { name: `${name}.value.bias`, dims: [state] };
  yield { name: `${name}.out.weight`, dims: [state, state] };
  yield { name: `${name}.out.bias`, dims: [state] };
}

function* perceptron(name: string, state: number): Generator<Tensor> {
  yield* normalization(`${name}_ln`, state);
  yield { name: `${name}.0.weight`, dims: [state, 4 * state] };
  yield { name: `${name}.0.bias`, dims: [4 * state] };
  yield { name: `${name}.2.weight`, dims: [4 * state, state] };
  yield { name: `${name}.2.bias`, dims: [state] };
}

function* normalization(name: string, state: number): Generator<Tensor> {
  yield { name: `${name}.weight`, dims: [state] };
  yield { name: `${name}.bias`, dims: [state] };
}

/** How many weights a tensor has. */
export const sizeOf = ({ dims }: Tensor): number => dims.reduce((product, size) => product * size, 1);

/** The gains of a layer normalization, which are 1 where nothing is amplified. */
export const isGain = ({ name }: Tensor): boolean => /ln(_post)?\.weight$/.test(name);

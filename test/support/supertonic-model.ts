/**
 * A Supertonic voice made from nothing, which the real library speaks with: each character is a tone of 100 ms, and each
 * voice has its own pitch. Its text has tags of the language, which are spoken, too.
 */
import { Graph, port } from './onnx-writer.ts';
import { frequency, readWav } from './tone-listener.ts';

const rate = 44_100;
/** Samples of a chunk, and chunks of a frame: 100 ms. */
const [chunk, chunks] = [2_205, 2];
const voices = 3;
/** Added to the code of a character for each voice. */
const step = 150;

/** The files by name. */
export function supertonic(): Readonly<Record<string, Buffer>> {
  return {
    'duration_predictor.int8.onnx': durationPredictor(),
    'text_encoder.int8.onnx': textEncoder(),
    'vector_estimator.int8.onnx': vectorEstimator(),
    'vocoder.int8.onnx': vocoder(),
    'tts.json': Buffer.from(JSON.stringify(ttsJson)),
    'unicode_indexer.bin': indexer(),
    'voice.bin': styles(),
  };
}

export const ttsJson = {
  ae: { sample_rate: rate, base_chunk_size: chunk },
  ttl: { chunk_compress_factor: chunks, latent_dim: 1 },
} as const;

/** The characters that a voice has spoken, in a WAV file at this rate. */
export function recognizeCharacters(wav: Buffer, voice = 0): string {
  const { samples } = readWav(wav);
  const frame = rate / 10;
  const from = samples.findIndex((sample) => Math.abs(sample) > 0.05);
  const count = Math.round((samples.length - from) / frame);
  // The middle of each, since MP3 blurs the edges.
  const tones = Array.from({ length: count }, (_, at) => samples.subarray(from + (at + 0.2) * frame, from + (at + 0.8) * frame)); // prettier-ignore
  const codes = tones.map((tone) => Math.round((frequency(tone, rate) - 200) / 10) - voice * step);
  return codes.map((code) => (code > 0 ? String.fromCodePoint(code) : '')).join('');
}

const float = (name: string, ...dims: (number | string)[]) => port(name, 'float', ...dims);
const ids = port('text_ids', 'int64', 1, 'L');
const textMask = float('text_mask', 1, 1, 'L');

/** 100 ms for each character. */
function durationPredictor(): Buffer {
  const g = new Graph();
  const count = g.op('ReduceSum', ['text_mask', g.constant([1, 2])], { keepdims: 0 });
  g.op('Mul', [count, g.floats([0.1])], {}, 'duration');
  return g.model({ inputs: [ids, float('style_dp', 1, 8, 16), textMask], outputs: [float('duration', 1)], metadata: {} }); // prettier-ignore
}

/** The code of each character, plus the number of the voice. */
function textEncoder(): Buffer {
  const g = new Graph();
  const style = g.op('Slice', ['style_ttl', g.constant([0, 0]), g.constant([1, 1]), g.constant([1, 2])]);
  const codes = g.op('Unsqueeze', [g.op('Cast', ['text_ids'], { to: 1 }), g.constant([1])]);
  g.op('Add', [codes, style], {}, 'text_emb');
  const inputs = [ids, float('style_ttl', 1, 50, 256), textMask];
  return g.model({ inputs, outputs: [float('text_emb', 1, 1, 'L')], metadata: {} });
}

/** Each frame takes its character. */
function vectorEstimator(): Buffer {
  const g = new Graph();
  const lengthOf = (mask: string) => g.op('ReduceSum', [mask, g.constant([0, 1, 2])], { keepdims: 0 });
  const [frames, length] = [lengthOf('latent_mask'), lengthOf('text_mask')];
  const counted = g.op('CumSum', [g.op('Squeeze', ['latent_mask', g.constant([0, 1])]), g.constant([0], [])]);
  const place = g.op('Div', [g.op('Mul', [g.op('Sub', [counted, g.floats([1])]), length]), frames]);
  const rounded = g.op('Floor', [g.op('Add', [place, g.floats([0.01])])]);
  const index = g.op('Cast', [g.op('Min', [rounded, g.op('Sub', [length, g.floats([1])])])], { to: 7 });
  const codes = g.op('Gather', ['text_emb', index], { axis: 2 });
  const empty = g.op('Mul', ['noisy_latent', g.floats([0])]);
  const rest = g.op('Slice', [empty, g.constant([0]), g.constant([chunks - 1]), g.constant([1])]);
  g.op('Concat', [codes, rest], { axis: 1 }, 'denoised_latent');
  const inputs = [
    ...[float('noisy_latent', 1, chunks, 'T'), float('text_emb', 1, 1, 'L'), float('style_ttl', 1, 50, 256)],
    ...[float('latent_mask', 1, 1, 'T'), textMask, float('current_step', 1), float('total_step', 1)],
  ];
  return g.model({ inputs, outputs: [float('denoised_latent', 1, chunks, 'T')], metadata: {} });
}

function vocoder(): Buffer {
  const g = new Graph();
  const codes = g.op('Slice', ['latent', g.constant([0]), g.constant([1]), g.constant([1])]);
  const hz = g.op('Add', [g.op('Mul', [codes, g.floats([10])]), g.floats([200])]);
  const ramp = Float32Array.from({ length: chunk * chunks }, (_, i) => (2 * Math.PI * i) / rate);
  const phase = g.op('Mul', [g.op('Transpose', [hz], { perm: [0, 2, 1] }), g.floats(ramp, [1, 1, chunk * chunks])]);
  g.op('Reshape', [g.op('Mul', [g.op('Sin', [phase]), g.floats([0.4])]), g.constant([1, -1])], {}, 'wav');
  return g.model({ inputs: [float('latent', 1, chunks, 'T')], outputs: [float('wav', 1, 'S')], metadata: {} });
}

/** ASCII, and the two points of an umlaut as ~. */
function indexer(): Buffer {
  const table = new Int32Array(65_536).fill(-1);
  for (let code = 32; code < 127; code += 1) table[code] = code;
  table[0x308] = 126;
  return Buffer.from(table.buffer);
}

function styles(): Buffer {
  const sizes = BigInt64Array.from([voices, 50, 256, voices, 8, 16], BigInt);
  const texts = new Float32Array(voices * 50 * 256);
  for (let voice = 0; voice < voices; voice += 1) texts[voice * 50 * 256] = voice * step;
  return Buffer.concat([sizes, texts, new Float32Array(voices * 8 * 16)].map(({ buffer }) => Buffer.from(buffer)));
}

/**
 * Models of the other families that the real library transcribes tones with: those of the tone model (tone-model.ts), each a
 * word. They are made by hand, as that of NeMo CTC (recognizer-model.ts): a lost or doubled sound changes the text.
 */
import { Graph, port, type Metadata } from './onnx-writer.ts';
import { bandWeights, frames, toneEnergy } from './recognizer-model.ts';
import { writeFiles } from './temporary.ts';
import { words, wordTone } from './tone-model.ts';
import { melCenters } from './voice-model.ts';

export interface FamilyOptions {
  /** Instead of the model's own metadata; undefined removes one. */
  readonly metadata?: Metadata;
  /** It fails with every recording but that of the warm-up, which has 0.5 s. */
  readonly failsInRequests?: boolean;
}

export const shapes = ['tdt', 'rnnt', 'sense-voice', 'moonshine-v1', 'moonshine-v2'] as const;
export type Shape = (typeof shapes)[number];

type Files = Readonly<Record<string, Buffer | string>>;

const writers: Readonly<Record<Shape, (options: FamilyOptions) => Files>> = {
  tdt: (options) => transducer({ ...options, isTdt: true }),
  rnnt: (options) => transducer({ ...options, isTdt: false }),
  'sense-voice': senseVoice,
  'moonshine-v1': moonshineV1,
  'moonshine-v2': moonshineV2,
};

/** Writes the files into the folder, and returns it. */
export async function writeFamily(folder: string, shape: Shape, options: FamilyOptions = {}): Promise<string> {
  return writeFiles(folder, writers[shape](options));
}

export interface ToneSpeech {
  readonly words: readonly (typeof words)[number][];
  /** Start of the first word, and the time between two starts. */
  readonly leadMs?: number;
  readonly everyMs?: number;
}

/** Words of 0.3 s at 16 kHz, and where they begin. */
export function speakTones({ words: spoken, leadMs = 320, everyMs = 480 }: ToneSpeech) {
  const starts = spoken.map((_word, at) => leadMs + everyMs * at);
  const samples = new Int16Array(16 * (leadMs + everyMs * spoken.length + 400));
  const length = 4_800;
  for (const [at, word] of spoken.entries())
    for (let i = 0; i < length; i++) {
      const loudness = 12_000 * Math.min(1, i / 320, (length - i) / 320);
      samples[16 * (starts[at] ?? 0) + i] = loudness * Math.sin((2 * Math.PI * wordTone(word) * i) / 16_000);
    }
  return { samples, starts };
}

const tones = words.map(wordTone);
const size = tones.length;
const marked = words.map((word) => `▁${word}`);
const table = (symbols: readonly string[]) => symbols.map((symbol, id) => `${symbol} ${id}\n`).join('');

/** The columns `from` to `to` of the last of two or three dimensions. */
const columns = (g: Graph, x: string, from: number, to: number, axis: number) =>
  g.op('Slice', [x, g.constant([from]), g.constant([to]), g.constant([axis])]);

/** The numbers of the items that differ from the one before, where `blank` stands for silence: [1,T] of booleans. */
function onsetsOf(g: Graph, ids: string, blank: number): string {
  const shifted = g.op('Concat', [g.constant([blank], [1, 1]), ids], { axis: 1 });
  const before = columns(g, shifted, 0, -1, 1);
  const isNew = g.op('Not', [g.op('Equal', [ids, before])]);
  return g.op('And', [isNew, g.op('Not', [g.op('Equal', [ids, g.constant([blank])])])]);
}

// -------------------------------------------------------------------------------------------------- NeMo transducers

/**
 * The encoder counts the words so far, and the state of the decoder the tokens: the joiner returns a word while the first
 * number is greater.
 */
function transducer({ isTdt, metadata }: FamilyOptions & { readonly isTdt: boolean }): Files {
  const [bands, subsampling] = isTdt ? [128, 8] : [128, 4];
  const url = isTdt ? 'made-by-hand-tdt' : 'made-by-hand';
  const usual = { ...{ vocab_size: size, subsampling_factor: subsampling, normalize_type: '', url }, ...{ pred_rnn_layers: 1, pred_hidden: 4, feat_dim: bands, model_type: 'EncDecRNNTBPEModel' } }; // prettier-ignore
  return {
    'encoder.onnx': encoder(bands, subsampling, { ...usual, ...metadata }),
    'decoder.onnx': decoder(),
    'joiner.onnx': joiner(isTdt),
    'tokens.txt': table([...marked, '<blk>']),
  };
}

function encoder(bands: number, subsampling: number, metadata: Metadata): Buffer {
  const g = new Graph();
  const weights = g.floats(bandWeights(melCenters(bands), tones, size + 1), [bands, size + 1]);
  const bias = g.floats([...tones.map(() => 0), 8]);
  const ids = g.op('ArgMax', [g.op('Add', [g.op('MatMul', [frames(g, subsampling), weights]), bias])], {
    axis: 2,
    keepdims: 0,
  });
  const onsets = g.op('Cast', [onsetsOf(g, ids, size)], { to: 1 });
  const count = g.op('Unsqueeze', [g.op('CumSum', [onsets, g.constant([1], [])]), g.constant([2])]);
  const hot = g.op('OneHot', [ids, g.constant([size + 1], []), g.floats([0, 1])], { axis: -1 });
  g.op('Transpose', [g.op('Concat', [hot, count], { axis: 2 })], { perm: [0, 2, 1] }, 'outputs');
  g.op('Slice', [g.op('Shape', [ids]), g.constant([1]), g.constant([2])], {}, 'encoded_lengths');
  return g.model({
    inputs: [port('audio_signal', 'float', 'b', bands, 't'), port('length', 'int64', 'b')],
    outputs: [port('outputs', 'float', 'b', size + 2, 'T'), port('encoded_lengths', 'int64', 'b')],
    metadata,
  });
}

function decoder(): Buffer {
  const g = new Graph();
  const isToken = g.op('Not', [g.op('Equal', [g.op('Cast', ['targets'], { to: 7 }), g.constant([size])])]);
  const more = g.op('Unsqueeze', [g.op('Cast', [isToken], { to: 1 }), g.constant([2])]);
  const state = g.op('Add', ['h', more], {}, 'hn');
  g.op('Identity', ['c'], {}, 'cn');
  g.op('Transpose', [state], { perm: [1, 2, 0] }, 'outputs');
  g.op('Identity', ['target_length'], {}, 'prednet_lengths');
  const states = (h: string, c: string) => [port(h, 'float', 1, 'b', 4), port(c, 'float', 1, 'b', 4)];
  return g.model({
    inputs: [port('targets', 'int32', 'b', 'u'), port('target_length', 'int32', 'b'), ...states('h', 'c')],
    outputs: [port('outputs', 'float', 'b', 4, 'u'), port('prednet_lengths', 'int32', 'b'), ...states('hn', 'cn')],
    metadata: {},
  });
}

/** With TDT, five durations follow the tokens: a blank takes one frame, a token two. */
function joiner(isTdt: boolean): Buffer {
  const g = new Graph();
  const recognized = g.op('Squeeze', ['encoder_outputs', g.constant([2])]);
  const said = columns(g, g.op('Squeeze', ['decoder_outputs', g.constant([2])]), 0, 1, 1);
  const left = g.op('Sub', [columns(g, recognized, size + 1, size + 2, 1), said]);
  const isWord = g.op('Min', [g.op('Max', [left, g.floats([0])]), g.floats([1])]);
  const words = g.op('Mul', [g.op('Mul', [columns(g, recognized, 0, size, 1), isWord]), g.floats([10])]);
  const blank = g.op('Add', [g.op('Mul', [isWord, g.floats([0])]), g.floats([5])]);
  const two = g.op('Mul', [isWord, g.floats([0, 0, 1, 0, 0], [1, 5])]);
  const one = g.op('Mul', [g.op('Sub', [g.floats([1]), isWord]), g.floats([0, 1, 0, 0, 0], [1, 5])]);
  const all = [words, blank, ...(isTdt ? [g.op('Add', [two, one])] : [])];
  g.op('Reshape', [g.op('Concat', all, { axis: 1 }), g.constant([1, 1, 1, -1])], {}, 'outputs');
  return g.model({
    inputs: [port('encoder_outputs', 'float', 'b', size + 2, 't'), port('decoder_outputs', 'float', 'b', 4, 'u')],
    outputs: [port('outputs', 'float', 'b', 't', 'u', size + 1 + (isTdt ? 5 : 0))],
    metadata: {},
  });
}

// ------------------------------------------------------------------------------------------------------- SenseVoice

const languageRows = { zh: 3, en: 4, yue: 7, ja: 11, ko: 12 } as const;
const prefix = ['<blk>', ...Object.keys(languageRows).map((language) => `<|${language}|>`), '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>', '<|woitn|>']; // prettier-ignore

/** Frames of the recording of the warm-up. */
const warmUpFrames = 9;

/** Four rows come before the words: the language of the request (Chinese without one), and three that never change. */
function senseVoice({ metadata, failsInRequests }: FamilyOptions): Files {
  const width = prefix.length + size;
  const g = new Graph();
  const frame = columns(g, 'x', 0, 80, 2);
  const centered = g.op('Sub', [frame, g.op('ReduceMean', [frame], { axes: [2], keepdims: 1 })]);
  const weights = g.floats(bandWeights(kaldiCenters(80), tones, width, prefix.length), [80, width]);
  const bias = g.floats(
    Float32Array.from({ length: width }, (_, id) => (id === 0 ? 6 : id < prefix.length ? -100 : 0)),
  );
  const logits = g.op('Add', [g.op('MatMul', [centered, weights]), bias]);
  const rows = (ids: readonly number[]) => g.floats(Float32Array.from(ids.flatMap((id) => Array.from({ length: width }, (_, at) => (at === id ? 100 : 0)))), [ids.length, width]); // prettier-ignore
  const names: readonly number[] = Object.values(languageRows);
  const languages = rows(Array.from({ length: 16 }, (_, id) => 1 + Math.max(0, names.indexOf(id))));
  const row = (all: string, id: string) => g.op('Unsqueeze', [g.op('Gather', [all, id], { axis: 0 }), g.constant([1])]);
  const norms = rows(Array.from({ length: 16 }, (_, id) => prefix.indexOf(id === 14 ? '<|withitn|>' : '<|woitn|>')));
  const middle = g.op('Unsqueeze', [rows([prefix.indexOf('<|NEUTRAL|>'), prefix.indexOf('<|Speech|>')]), g.constant([0])]); // prettier-ignore
  const recognized = failsInRequests ? failing(g, logits, 'x', warmUpFrames * 560) : logits;
  g.op('Concat', [row(languages, 'language'), middle, row(norms, 'text_norm'), recognized], { axis: 1 }, 'logits');
  g.op('Add', ['x_length', g.constant([4], [1], 'int32')], {}, 'lengths');
  const ids = Object.fromEntries(Object.entries(languageRows).map(([language, id]) => [`lang_${language}`, id]));
  const list = (value: string) => Array.from({ length: 560 }, () => value).join(',');
  const usual = { ...{ model_type: 'sense_voice_ctc', comment: 'made by hand', vocab_size: width, normalize_samples: 0 }, ...{ lfr_window_size: 7, lfr_window_shift: 6, with_itn: 14, without_itn: 15, lang_auto: 0, ...ids }, ...{ neg_mean: list('0'), inv_stddev: list('1') } }; // prettier-ignore
  const int = (name: string) => port(name, 'int32', 'N');
  const model = g.model({
    inputs: [port('x', 'float', 'N', 'T', 560), int('x_length'), int('language'), int('text_norm')],
    outputs: [port('logits', 'float', 'N', 'T2', width), int('lengths')],
    metadata: { ...usual, ...metadata },
  });
  return { 'model.onnx': model, 'tokens.txt': table([...prefix, ...marked]) };
}

function kaldiCenters(bands: number, [low, high] = [20, 8_000] as const): number[] {
  const toMel = (hz: number) => 1_127 * Math.log(1 + hz / 700);
  const step = (toMel(high) - toMel(low)) / (bands + 1);
  return Array.from({ length: bands }, (_, band) => 700 * (Math.exp((toMel(low) + step * (band + 1)) / 1_127) - 1));
}

/** `x`, from a node that fails unless `input` has `count` numbers. */
function failing(g: Graph, x: string, input: string, count: number): string {
  const sum = g.op('ReduceSum', [g.op('Reshape', [input, g.constant([count])])], { keepdims: 0 });
  return g.op('Add', [x, g.op('Mul', [sum, g.floats([0], [])])]);
}

// -------------------------------------------------------------------------------------------------------- Moonshine

const special = ['<unk>', '<s>', '</s>'];
const end = 2;

/** The ids of the words in samples, [1,T,1], and ends after them: filters at the tones, their energy, and its onsets. */
function wordList(g: Graph, audio: string): string {
  const input = g.op('Unsqueeze', [audio, g.constant([1])]);
  const energy = toneEnergy(g, input, tones, { window: 320, stride: 160 });
  const floor = g.op('Add', [g.op('Mul', [columns(g, energy, 0, 1, 1), g.floats([0])]), g.floats([0.0005])]);
  const ids = g.op('ArgMax', [g.op('Concat', [energy, floor], { axis: 1 })], { axis: 1, keepdims: 0 });
  const flat = g.op('Reshape', [ids, g.constant([-1])]);
  const spoken = g.op('Compress', [flat, g.op('Reshape', [onsetsOf(g, ids, size), g.constant([-1])])]);
  const tokens = g.op('Add', [spoken, g.constant([special.length])]);
  const ends = g.op('Add', [g.op('Mul', [flat, g.constant([0])]), g.constant([end])]);
  const list = g.op('Slice', [g.op('Concat', [tokens, ends], { axis: 0 }), g.constant([0]), g.op('Shape', [flat]), g.constant([0])]); // prettier-ignore
  return g.op('Cast', [g.op('Reshape', [list, g.constant([1, -1, 1])])], { to: 1 });
}

/** The item of the list at a position, as logits. */
function itemOf(g: Graph, list: string, at: string): void {
  const id = g.op('Cast', [g.op('Squeeze', [g.op('Gather', [list, at], { axis: 1 }), g.constant([2])])], { to: 7 });
  g.op('OneHot', [id, g.constant([special.length + size], []), g.floats([0, 10])], { axis: -1 }, 'logits');
}

function moonshineV1(): Files {
  const preprocess = new Graph();
  preprocess.op('Identity', [wordList(preprocess, 'audio')], {}, 'features');
  const encode = new Graph();
  encode.op('Identity', ['features'], {}, 'out');
  encode.op('Identity', ['features_len'], {}, 'unused');
  const list = (name: string) => port(name, 'float', 'b', 't', 1);
  const decode = (isCached: boolean) => {
    const g = new Graph();
    itemOf(g, 'encoder_out', g.op('Sub', [g.op('Cast', ['seq_len'], { to: 7 }), g.constant([1])]));
    const zero = g.op('Mul', [g.op('Cast', ['token'], { to: 1 }), g.floats([0])]);
    g.op(isCached ? 'Add' : 'Identity', isCached ? ['state', zero] : [zero], {}, 'next');
    const state = (name: string) => port(name, 'float', 'b', 'u');
    return g.model({
      inputs: [port('token', 'int32', 'b', 'u'), list('encoder_out'), port('seq_len', 'int32', 'b'), ...(isCached ? [state('state')] : [])], // prettier-ignore
      outputs: [port('logits', 'float', 'b', 'u', special.length + size), state('next')],
      metadata: {},
    });
  };
  return {
    'preprocess.onnx': preprocess.model({ inputs: [port('audio', 'float', 'b', 'n')], outputs: [list('features')], metadata: {} }), // prettier-ignore
    'encode.onnx': encode.model({ inputs: [list('features'), port('features_len', 'int32', 'b')], outputs: [list('out')], metadata: {} }), // prettier-ignore
    'uncached_decode.onnx': decode(false),
    'cached_decode.onnx': decode(true),
    'tokens.txt': table([...special, ...marked]),
  };
}

/** The number of the next word is the length of the cache. */
function moonshineV2({ failsInRequests }: FamilyOptions): Files {
  const encoder = new Graph();
  const found = wordList(encoder, 'input_values');
  const list = failsInRequests ? failing(encoder, found, 'input_values', 8_000) : found;
  encoder.op('Identity', [list], {}, 'last_hidden_state');
  const g = new Graph();
  const key = 'past_key_values.0.decoder.key';
  itemOf(g, 'encoder_hidden_states', g.op('Slice', [g.op('Shape', [key]), g.constant([2]), g.constant([3])]));
  const one = g.op('Reshape', [g.op('Mul', [g.op('Cast', ['input_ids'], { to: 1 }), g.floats([0])]), g.constant([1, 1, 1, 1])]); // prettier-ignore
  const encoded = g.op('Unsqueeze', ['encoder_hidden_states', g.constant([1])]);
  for (const part of ['key', 'value']) {
    g.op('Concat', [`past_key_values.0.decoder.${part}`, one], { axis: 2 }, `present.0.decoder.${part}`);
    g.op('Identity', [encoded], {}, `present.0.encoder.${part}`);
  }
  g.op('Not', ['use_cache_branch'], {}, 'unused');
  const cache = (prefix: string) =>
    ['decoder', 'encoder'].flatMap((side) => ['key', 'value'].map((part) => port(`${prefix}.0.${side}.${part}`, 'float', 'b', 1, `${prefix} ${side}`, 1))); // prettier-ignore
  const hidden = (name: string) => port(name, 'float', 'b', 't', 1);
  const symbols = [...special, ...words.map((word) => ` ${word}`)];
  return {
    'encoder_model.onnx': encoder.model({ inputs: [port('input_values', 'float', 'b', 'n')], outputs: [hidden('last_hidden_state')], metadata: {} }), // prettier-ignore
    'decoder_model_merged.onnx': g.model({
      inputs: [port('input_ids', 'int64', 'b', 'u'), hidden('encoder_hidden_states'), ...cache('past_key_values'), port('use_cache_branch', 'bool', 1)], // prettier-ignore
      outputs: [port('logits', 'float', 'b', 'u', special.length + size), ...cache('present')],
      metadata: {},
    }),
    'tokens.txt': symbols.map((symbol, id) => `${Buffer.from(symbol).toString('base64')}\t${id}\n`).join(''),
  };
}

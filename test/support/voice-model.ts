/**
 * A Piper voice made from nothing, which the real library speaks with: each token is a tone of a frequency and a length of
 * its own. A lost or doubled letter, a wrong speed or speaker and a cut sentence are noticed (tone-listener.ts).
 *
 * How it speaks: the graph looks up the length of each token, sums the lengths up, finds the token of each sample and its
 * place in it, and takes a sine from there. Speaker s > 0 hums at 60 * s Hz.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Graph, port, tensor } from './onnx-writer.ts';
import { addMediumLayers } from './medium-layers.ts';

export interface Token {
  readonly symbol: string;
  /** 0: silent. */
  readonly hz: number;
  readonly ms: number;
}

/**
 * `characters`: its tokens are letters. `piper` and `styled` (Kokoro and Kitten): its tokens are IPA; the text goes through
 * eSpeak NG.
 */
export type VoiceKind = 'characters' | 'piper' | 'styled';

export const letters: readonly string[] = Array.from(" abcdefghijklmnopqrstuvwxyz0123456789'.,?!");

/** Centers of the mel bands up to 8 kHz (slaney), where a recognizer of tones has its weights. */
export function melCenters(bands = 80): number[] {
  const step = Math.log(6.4) / 27;
  const toMel = (hz: number) => (hz < 1000 ? (3 * hz) / 200 : 15 + Math.log(hz / 1000) / step);
  const toHz = (mel: number) => (mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp((mel - 15) * step));
  const top = 8000;
  return Array.from({ length: bands }, (_, band) => toHz((toMel(top) * (band + 1)) / (bands + 1)));
}

/** Centers of bands, at least 105 Hz apart. */
export function letterTones(): number[] {
  const tones: number[] = [];
  for (const center of melCenters()) {
    if (center >= 380 && center < 7700 && center - (tones.at(-1) ?? 0) >= 105) tones.push(Math.round(center));
  }
  return tones.slice(0, letters.length);
}

/** In an order of our own, 50 Hz apart. */
const phonemes = Array.from(
  " !'(),-.:;?abcdefhijklmnopqrstuvwxyzæçðøħŋœɐɑɒɓɔɕɖɗɘəɚɛɜɞɟɠɡɢɣɤɥɦɧɨɪɫɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʄʈʉʊʋʌʍʎʏʐʑʒʔʕʘʙʛʜʝʟʡʢʲˈˌːˑ˞βθχᵻⱱ0123456789ʰˤ",
);

/** `_` comes after each token, `^` and `$` around a sentence. */
const pads = (gapMs: number): Token[] => [
  { symbol: '_', hz: 0, ms: gapMs },
  { symbol: '^', hz: 0, ms: 20 },
  { symbol: '$', hz: 0, ms: 60 },
];

export const tokens: Readonly<Record<VoiceKind, readonly Token[]>> = {
  characters: [...pads(40), ...letterTones().map((hz, k) => ({ symbol: letters[k] ?? '', hz, ms: 60 }))],
  piper: [...pads(30), ...phonemes.map((symbol, k) => ({ symbol, hz: 400 + 50 * k, ms: 60 }))],
  styled: [{ symbol: '$', hz: 0, ms: 40 }, ...phonemes.concat('"', '—', '…', '“', '”', '一').map((symbol, k) => ({ symbol, hz: 400 + 50 * k, ms: 60 }))], // prettier-ignore
};

export interface VoiceOptions {
  readonly kind?: 'characters' | 'piper';
  readonly rate?: number;
  readonly speakers?: number;
  /** As Piper publishes it: without the metadata that the library wants. */
  readonly isPlain?: boolean;
  /** With random weights in the shape of Piper's medium quality: true time, memory and size (60 MB). */
  readonly isMedium?: boolean;
}

/** The files that the voice has as Piper publishes it. */
export function voiceModel(options: VoiceOptions = {}): { onnx: Buffer; config: Readonly<Record<string, unknown>> } {
  const { kind = 'characters', rate = 22_050, speakers = 1, isPlain = false } = options;
  const facts = { kind, rate, speakers };
  return { onnx: graphOf(options).model({ ...ports(speakers), metadata: isPlain ? {} : metadata(facts) }), config: config(facts) }; // prettier-ignore
}

/** Writes NAME.onnx and NAME.onnx.json; returns the path of the first. */
export async function writeVoice(directory: string, name: string, options: VoiceOptions = {}): Promise<string> {
  const { onnx, config } = voiceModel(options);
  const file = join(directory, `${name}.onnx`);
  await mkdir(directory, { recursive: true });
  await writeFile(file, onnx);
  await writeFile(`${file}.json`, JSON.stringify(config));
  return file;
}

function graphOf({ kind = 'characters', rate = 22_050, speakers = 1, isMedium = false }: VoiceOptions): Graph {
  const table = tokens[kind];
  const g = new Graph();
  const [zero, one] = [g.constant([0]), g.constant([1])];
  const ids = g.op('Reshape', ['input', g.constant([-1])]);
  // Lengths in samples, times length_scale.
  const scale = g.op('Slice', ['scales', one, g.constant([2])]);
  const lengths = g.op('Gather', [g.floats(table.map(({ ms }) => (ms * rate) / 1000)), ids], { axis: 0 });
  const counts = g.op('Cast', [g.op('Floor', [g.op('Mul', [lengths, scale])])], { to: 7 });
  const { time, indexes, total, ...tones } = addTones(g, { ids, counts, table, rate });
  let { sound } = tones;
  if (speakers > 1) {
    const who = g.op('Cast', ['sid'], { to: 1 });
    const steps = g.op('Mul', [g.op('Cast', [time], { to: 1 }), who]);
    const hum = sine(g, g.op('Mul', [steps, g.floats([60 / rate])]));
    sound = g.op('Add', [sound, g.op('Mul', [hum, g.floats([0.1])])]);
  }
  if (isMedium) {
    const noise = addMediumLayers(g, { ids, indexes, total, size: table.length, zero, one });
    sound = g.op('Add', [sound, g.op('Mul', [noise, g.floats([1e-7])])]);
  }
  g.op('Reshape', [sound, g.constant([1, 1, 1, -1])], {}, 'output');
  return g;
}

interface Tones {
  /** The number of each token, and its length in samples. */
  readonly ids: string;
  readonly counts: string;
  readonly table: readonly Token[];
  readonly rate: number;
  /** Silence at the end of each token. */
  readonly gapMs?: number;
}

/** Adds the tones of the tokens, one after the other. */
export function addTones(g: Graph, { ids, counts, table, rate, gapMs = 0 }: Tones) {
  const [zero, one, last] = [g.constant([0]), g.constant([1]), g.constant([-1])];
  const ends = g.op('CumSum', [counts, g.constant([0], [])]);
  const total = g.op('Slice', [ends, last, g.constant([2 ** 53])]);
  const inner = g.op('Slice', [ends, zero, last]);
  const starts = g.op('Concat', [zero, inner], { axis: 0 });
  // The token of each sample: a mark at each start, summed up.
  const empty = g.op('ConstantOfShape', [g.op('Add', [total, one])], { value: tensor('', 'int64', [1], [0]) });
  const ones = g.op('ConstantOfShape', [g.op('Shape', [inner])], { value: tensor('', 'int64', [1], [1]) });
  const marks = g.op('ScatterElements', [empty, inner, ones], { axis: 0, reduction: 'add' });
  const indexes = g.op('Slice', [g.op('CumSum', [marks, g.constant([0], [])]), zero, total]);
  const time = g.op('Range', [g.constant([0], []), g.op('Squeeze', [total, zero]), g.constant([1], [])]);
  const since = g.op('Cast', [g.op('Sub', [time, g.op('Gather', [starts, indexes], { axis: 0 })])], { to: 1 });
  const left = g.op('Cast', [g.op('Sub', [g.op('Gather', [ends, indexes], { axis: 0 }), time])], { to: 1 });
  const until = g.op('Sub', [left, g.floats([(gapMs * rate) / 1000])]);
  const spoken = g.op('Gather', [ids, indexes], { axis: 0 });
  const turns = g.op('Gather', [g.floats(table.map(({ hz }) => hz / rate)), spoken], { axis: 0 });
  const loud = g.op('Gather', [g.floats(table.map(({ hz }) => (hz ? 0.4 : 0))), spoken], { axis: 0 });
  // Fades of 5 ms.
  const edge = g.op('Mul', [g.op('Min', [since, until]), g.floats([1 / (0.005 * rate)])]);
  const fade = g.op('Max', [g.op('Min', [edge, g.floats([1])]), g.floats([0])]);
  const sound = g.op('Mul', [g.op('Mul', [sine(g, g.op('Mul', [since, turns])), loud]), fade]);
  return { sound, time, indexes, total };
}

/** Whole turns are removed first: sin() of a large float is inexact. */
export function sine(g: Graph, turns: string): string {
  const part = g.op('Sub', [turns, g.op('Floor', [turns])]);
  return g.op('Sin', [g.op('Mul', [part, g.floats([2 * Math.PI])])]);
}

function ports(speakers: number) {
  const inputs = [
    ...[
      port('input', 'int64', 'batch', 'phonemes'),
      port('input_lengths', 'int64', 'batch'),
      port('scales', 'float', 3),
    ],
    ...(speakers > 1 ? [port('sid', 'int64', 'batch')] : []),
  ];
  return { inputs, outputs: [port('output', 'float', 'batch', 1, 1, 'time')] };
}

interface VoiceFacts {
  readonly kind: 'characters' | 'piper';
  readonly rate: number;
  readonly speakers: number;
}

/** What the library reads from a VITS model. */
function metadata({ kind, rate, speakers }: VoiceFacts): Readonly<Record<string, string | number>> {
  const common = { model_type: 'vits', language: 'English', n_speakers: speakers, sample_rate: rate };
  if (kind === 'piper') return { ...common, comment: 'piper', voice: 'en-us', has_espeak: 1 };
  const ids = { blank_id: 0, pad_id: 0, bos_id: 1, eos_id: 2 };
  return { ...common, comment: 'coqui', frontend: 'characters', add_blank: 1, use_eos_bos: 1, ...ids };
}

/** Piper's .onnx.json. */
function config({ kind, rate, speakers }: VoiceFacts): Readonly<Record<string, unknown>> {
  const names = Array.from({ length: speakers }, (_, sid) => [`hum-${sid}`, sid] as const);
  return {
    audio: { sample_rate: rate, quality: 'medium' },
    espeak: { voice: 'en-us' },
    inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
    phoneme_type: kind === 'piper' ? 'espeak' : 'text',
    phoneme_map: {},
    phoneme_id_map: Object.fromEntries(tokens[kind].map(({ symbol }, id) => [symbol, [id]])),
    num_symbols: tokens[kind].length,
    num_speakers: speakers,
    speaker_id_map: speakers > 1 ? Object.fromEntries(names) : {},
    language: { code: 'en_US', family: 'en', region: 'US', name_native: 'English', name_english: 'English' },
    dataset: 'tones',
  };
}

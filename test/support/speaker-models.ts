/**
 * Handmade models that find speakers, for the real library. A speaker is a hum below the tones of words (tone-model.ts), so
 * that the same sound has words for a recognizer and voices for these models.
 *
 * The segmentation has filters at the hums. As in a real model, each window of 10 s has 3 speakers of its own. The embedding
 * is the loudness at each hum relative to the loudest, with one direction for each hum.
 */
import { Graph, port, type Metadata } from './onnx-writer.ts';
import { bandWeights, toneEnergy } from './recognizer-model.ts';
import { writeFiles } from './temporary.ts';
import { sampleRate } from '../../lib/wav.ts';
import { wordTone, type Word } from './tone-model.ts';

/** Hz, each in a mel band of its own. */
const hums = [130, 220, 310, 400];

export interface SpeakerModelOptions {
  /** Overrides metadata of the model; undefined removes an entry. */
  readonly segmentation?: Metadata;
  readonly embedding?: Metadata;
  /** How alike the voices of the first two speakers are, from 0 to 1. */
  readonly likeness?: number;
}

/** Writes the files into the folder, and returns it. */
export async function writeSpeakerModels(folder: string, options: SpeakerModelOptions = {}): Promise<string> {
  return writeFiles(folder, {
    'model.onnx': segmentation(options.segmentation),
    'nemo_en_titanet_small.onnx': embedding(options.likeness, options.embedding),
  });
}

function segmentation(metadata: Metadata = {}): Buffer {
  const [window, stride] = [991, 270];
  const g = new Graph();
  const energy = toneEnergy(g, 'x', hums, { window, stride });
  const on = g.op('Cast', [g.op('Greater', [energy, g.floats([0.000_12])])], { to: 1 });
  const row = (from: number) => g.op('Slice', [on, g.constant([from]), g.constant([from + 1]), g.constant([1])]);
  const [first, second, third] = [g.op('Max', [row(0), row(3)]), row(1), row(2)];
  const not = (one: string) => g.op('Sub', [g.floats([1]), one]);
  const and = (...all: string[]) => all.reduce((one, other) => g.op('Mul', [one, other]));
  const classes = [
    and(not(first), not(second), not(third)),
    and(first, not(second), not(third)),
    and(second, not(first), not(third)),
    and(third, not(first), not(second)),
    and(first, second),
    and(first, third, not(second)),
    and(second, third, not(first)),
  ];
  const all = g.op('Mul', [g.op('Concat', classes, { axis: 1 }), g.floats([10])]);
  g.op('Transpose', [all], { perm: [0, 2, 1] }, 'y');
  return g.model({
    inputs: [port('x', 'float', 'N', 1, 'T')],
    outputs: [port('y', 'float', 'N', 'F', classes.length)],
    metadata: {
      ...{ model_type: 'pyannote-segmentation-3.0', num_speakers: 3, powerset_max_classes: 2, num_classes: 7 },
      ...{ sample_rate: sampleRate, window_size: 160_000, receptive_field_size: window, receptive_field_shift: stride },
      ...metadata,
    },
  });
}

function embedding(likeness = 0, metadata: Metadata = {}): Buffer {
  const [dimensions, count] = [32, hums.length];
  const g = new Graph();
  const mean = g.op('ReduceMean', ['feats'], { axes: [1], keepdims: 0 });
  const centers = kaldiCenters(80);
  const own = g.op('MatMul', [mean, g.floats(bandWeights(centers, hums, count), [centers.length, count])]);
  const top = g.op('ReduceMax', [own], { axes: [1], keepdims: 1 });
  const voice = g.op('Relu', [g.op('Add', [g.op('Sub', [own, top]), g.floats([1])])]);
  const directions = new Float32Array(count * dimensions);
  for (let hum = 0; hum < count; hum++) directions[hum * dimensions + hum] = 1;
  directions[dimensions] = likeness;
  directions[dimensions + 1] = Math.sqrt(1 - likeness ** 2);
  const placed = g.op('MatMul', [voice, g.floats(directions, [count, dimensions])]);
  g.op('Add', [placed, g.floats([1e-4])], {}, 'embs');
  return g.model({
    inputs: [port('feats', 'float', 'B', 'T', centers.length)],
    outputs: [port('embs', 'float', 'B', dimensions)],
    metadata: {
      ...{ framework: 'wespeaker', language: 'English', sample_rate: sampleRate, output_dim: dimensions },
      ...{ normalize_samples: 1, feature_normalize_type: '', ...metadata },
    },
  });
}

/** Speaker embeddings use other mel bands than recognizers, between 20 and 7,600 Hz. */
function kaldiCenters(bands: number): number[] {
  const toMel = (hz: number) => 1127 * Math.log(1 + hz / 700);
  const step = (toMel(7_600) - toMel(20)) / (bands + 1);
  return Array.from({ length: bands }, (_, band) => 700 * (Math.exp((toMel(20) + step * (band + 1)) / 1127) - 1));
}

/** What a speaker says, after a pause. */
export interface Said {
  readonly speaker: number;
  readonly words: readonly Word[];
  /** Seconds of silence before the words. Default: 0.7. */
  readonly pause?: number;
}

export interface Conversation {
  readonly samples: Int16Array;
  readonly turns: readonly { readonly speaker: number; readonly startMs: number; readonly endMs: number }[];
}

const [wordSeconds, gapSeconds] = [0.3, 0.15];

/** Words are tones, and the speaker hums. */
export function conversation(said: readonly Said[], tailSeconds = 1): Conversation {
  const lengthOf = (words: readonly Word[]) => words.length * (wordSeconds + gapSeconds);
  const seconds = said.reduce((sum, { words, pause = 0.7 }) => sum + pause + lengthOf(words), tailSeconds);
  const samples = new Int16Array(Math.round(seconds * sampleRate));
  const add = (from: number, length: number, hz: number, loud: number) => {
    const [start, count] = [Math.round(from * sampleRate), Math.round(length * sampleRate)];
    for (let i = 0; i < count; i++) {
      const edge = Math.min(1, i / 80, (count - i) / 80);
      samples[start + i] =
        (samples[start + i] ?? 0) + 32_767 * loud * edge * Math.sin((2 * Math.PI * hz * i) / sampleRate);
    }
  };
  let at = 0;
  const turns = said.map(({ speaker, words, pause = 0.7 }) => {
    at += pause;
    const start = at;
    for (const word of words) {
      add(at, wordSeconds, wordTone(word), 0.3);
      at += wordSeconds + gapSeconds;
    }
    add(start, at - start, hums[speaker] ?? 0, 0.12);
    return { speaker, startMs: Math.round(1000 * start), endMs: Math.round(1000 * at) };
  });
  return { samples, turns };
}

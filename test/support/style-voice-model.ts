/**
 * Kokoro and Kitten voices made from nothing, which the real library speaks with. Each token is a tone (voice-model.ts).
 * Speaker s > 0 hums at 60 * s Hz. The sound is silent unless the library has taken the style for this number of tokens.
 */
import { Graph, port, type Metadata } from './onnx-writer.ts';
import { writeFiles } from './temporary.ts';
import { addTones, sine, tokens } from './voice-model.ts';

export interface StyleVoiceOptions {
  /** `kokoro`: version 2, as 1.0 and 1.1 have it. `kokoro-1`: as 0.19 has it. */
  readonly family?: 'kokoro' | 'kokoro-1' | 'kitten';
  /** One for each speaker. */
  readonly names?: readonly string[];
  /** Instead of the model's own metadata; undefined removes one. */
  readonly metadata?: Metadata;
}

const rate = 24_000;
const table = tokens.styled;

/** Sizes of the styles: one row for each number of tokens. Real ones have 256 columns. */
const [rows, columns] = [510, 16];

const defaultNames = {
  kokoro: ['af_one', 'bf_two', 'ff_three', 'jf_four', 'zf_five'],
  'kokoro-1': ['af', 'bm_two'],
  kitten: ['expr-voice-2-m', 'expr-voice-2-f'],
} as const;

/** The files by name. */
export function styleVoice(options: StyleVoiceOptions = {}): Readonly<Record<string, Buffer>> {
  const { family = 'kokoro', names = defaultNames[family], metadata = {} } = options;
  const facts = {
    model_type: family === 'kitten' ? 'kitten-tts' : 'kokoro',
    ...{ language: 'made by hand', has_espeak: 1, voice: 'en-us', sample_rate: rate },
    version: family === 'kokoro' ? 2 : 1,
    style_dim: family === 'kitten' ? `${rows},${columns}` : `${rows},1,${columns}`,
    n_speakers: names.length,
    speaker_names: names.join(','),
    ...metadata,
  };
  return {
    'model.onnx': modelWith(facts),
    'voices.bin': styles(names.length),
    'tokens.txt': Buffer.from(table.map(({ symbol }, id) => `${symbol} ${id}\n`).join('')),
    ...(family === 'kokoro' && { 'lexicon-zh.txt': Buffer.from('一 一\n') }),
  };
}

/** Returns the folder. */
export async function writeStyleVoice(folder: string, options?: StyleVoiceOptions): Promise<string> {
  return writeFiles(folder, styleVoice(options));
}

function modelWith(metadata: Metadata): Buffer {
  const g = new Graph();
  const ids = g.op('Reshape', ['tokens', g.constant([-1])]);
  const lengths = g.op('Gather', [g.floats(table.map(({ ms }) => (ms * rate) / 1000)), ids], { axis: 0 });
  const counts = g.op('Cast', [g.op('Floor', [g.op('Div', [lengths, 'speed'])])], { to: 7 });
  const { sound, time } = addTones(g, { ids, counts, table, rate, gapMs: 12 });
  const style = g.op('Reshape', ['style', g.constant([-1])]);
  const [hz, row] = [0, 1].map((at) => g.op('Slice', [style, g.constant([at]), g.constant([at + 1])])) as [string, string]; // prettier-ignore
  const turns = g.op('Mul', [g.op('Cast', [time], { to: 1 }), g.op('Mul', [hz, g.floats([1 / rate])])]);
  const hum = g.op('Mul', [sine(g, turns), g.floats([0.1])]);
  const expected = g.op('Sub', [g.op('Shape', [ids]), g.constant([2])]);
  const isRight = g.op('Cast', [g.op('Equal', [g.op('Cast', [row], { to: 7 }), expected])], { to: 1 });
  g.op('Mul', [g.op('Add', [sound, hum]), isRight], {}, 'audio');
  const inputs = [
    ...[
      port('tokens', 'int64', 'batch', 'length'),
      port('style', 'float', 'batch', columns),
      port('speed', 'float', 1),
    ],
  ];
  return g.model({ inputs, outputs: [port('audio', 'float', 'samples')], metadata });
}

function styles(speakers: number): Buffer {
  const values = new Float32Array(speakers * rows * columns);
  for (let speaker = 0; speaker < speakers; speaker += 1) {
    for (let row = 0; row < rows; row += 1) values.set([60 * speaker, row], (speaker * rows + row) * columns);
  }
  return Buffer.from(values.buffer);
}

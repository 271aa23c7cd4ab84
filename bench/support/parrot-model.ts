/**
 * A whisper model of true size that hears nothing: whatever the recording, it says one sentence. Its weights are random
 * but for the decoder's positions, each of which asks for the next token of that sentence; so it costs what a real
 * model of that shape costs, and the same in every run.
 */
import {
  type Dialect,
  isGain,
  multilingual,
  type Shape,
  sizeOf,
  type Tensor,
  textContext,
  writeWhisperModel,
} from '../../test/support/ggml-writer.ts';

/** As whisper's own models of these names have it. */
export const parrotShapes = {
  tiny: { state: 384, heads: 6, encoderBlocks: 4, decoderBlocks: 4 },
  base: { state: 512, heads: 8, encoderBlocks: 6, decoderBlocks: 6 },
} as const satisfies Record<string, Shape>;
export type ParrotSize = keyof typeof parrotShapes;

export interface Parrot {
  readonly size: ParrotSize;
  readonly text?: string;
  /** The time stamp at the end of the text; a longer recording makes it speak again, from there on. At most 30. */
  readonly endSeconds?: number;
}

/** About what one says in ten seconds. */
export const sentence =
  'The quick brown fox jumps over the lazy dog and then it goes back home to sleep for the rest of the day.';

/** Writes the model as whisper-cli's `-m` takes it: tiny 78 MB, base 148 MB. */
export async function writeParrotModel(path: string, parrot: Parrot): Promise<void> {
  const { size, text = sentence, endSeconds = 10 } = parrot;
  const [dialect, shape] = [multilingual, parrotShapes[size]];
  const random = createRandom();
  const tokens = vocabulary(text, dialect);
  const tokenVectors = random.normal(shape.state * dialect.vocabulary, 1 / Math.sqrt(shape.state));
  const rigged: Readonly<Record<string, Float32Array>> = {
    'decoder.token_embedding.weight': tokenVectors,
    'decoder.positional_embedding': positions(script(text, tokens, endSeconds, dialect), tokenVectors, shape),
  };
  const weights = (tensor: Tensor) => rigged[tensor.name] ?? ordinary(tensor, random);
  await writeWhisperModel(path, { dialect, shape, tokens, weights });
}

/** The words of the text, and then as many others as a real model has, because it takes time to read them. */
function vocabulary(text: string, { endOfText }: Dialect): string[] {
  // The lone space is looked up by whisper, to forbid a text that begins with it.
  const own = [' ', ...new Set(wordsOf(text))];
  return [...own, ...Array.from({ length: endOfText - own.length }, (_, i) => `~${i}`)];
}

const wordsOf = (text: string): string[] => text.split(' ').map((word) => ` ${word}`);

/** By decoder position, the token that follows there; once the text is said, that it has ended. */
function script(text: string, tokens: readonly string[], endSeconds: number, dialect: Dialect): number[] {
  const { startOfTranscript, firstTimestamp, endOfText, promptLength } = dialect;
  const inEnglish = startOfTranscript + 1;
  const said = wordsOf(text).map((word) => tokens.indexOf(word));
  const end = firstTimestamp + Math.round(endSeconds / 0.02);
  // At the first position it is asked for the language; what would follow within the prompt is never asked.
  const prompt = Array<number>(promptLength - 1).fill(inEnglish);
  const spoken = [...prompt, firstTimestamp, ...said, end];
  return Array.from({ length: textContext }, (_, position) => spoken[position] ?? endOfText);
}

/** So loud that the random blocks above do not drown it, and every token is near certain. */
const loudness = 6;

/** Whisper takes the token whose vector is most like what its last layer holds, and the blocks let pass what is loud. */
function positions(script: readonly number[], tokenVectors: Float32Array, { state }: Shape): Float32Array {
  const values = new Float32Array(state * textContext);
  for (const [position, token] of script.entries()) {
    const vector = tokenVectors.subarray(token * state, (token + 1) * state);
    values.set(
      vector.map((value) => loudness * value),
      position * state,
    );
  }
  return values;
}

function ordinary(tensor: Tensor, random: Random): Float32Array {
  const { name, dims } = tensor;
  if (isGain(tensor)) return new Float32Array(sizeOf(tensor)).fill(1);
  if (name.endsWith('.bias')) return new Float32Array(sizeOf(tensor));
  // Small enough that no sum runs away: all but the last dimension are summed over.
  const summed = dims.slice(0, -1).reduce((product, size) => product * size, 1);
  return random.normal(sizeOf(tensor), 0.3 / Math.sqrt(summed));
}

interface Random {
  /** Normally distributed numbers around 0. */
  normal(count: number, deviation: number): Float32Array;
}

/** The same numbers in every run: xorshift32, which picks out of a table of the normal distribution. */
function createRandom(): Random {
  let seed = 1;
  const next = (): number => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return seed >>> 0;
  };
  const uniform = (): number => (next() + 1) / 2 ** 32;
  const table = Float32Array.from(
    { length: 2 ** 16 },
    () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
  return {
    normal(count, deviation) {
      const values = new Float32Array(count);
      for (let at = 0; at < count; at++) values[at] = table[next() >>> 16]! * deviation;
      return values;
    },
  };
}

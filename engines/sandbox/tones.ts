/**
 * Speech that carries its text. A word is a burst of pulses, each of two tones: a pulse that marks its beginning and
 * names the voice, one for each byte of UTF-8, and a checksum. The tones are between 500 and 3,230 Hz, the band of
 * telephones, and pulses fade in and out. The tones survive every codec of the service, resampling and some noise.
 */

/** Hz. */
export const sampleRate = 16_000;
/** Length of the pulse for a byte at a speed of 1. Pulses shorter than at a speed of 2 do not survive codecs. */
const msPerPulse = 50;
const maxSpeed = 2;
/** The pause between two bursts, in pulses: longer than any pause within a burst, shorter than the end of a turn. */
const pulsesBetween = 2;
/** Longer words are split into several bursts, so that a recording can be cut within them. */
export const maxBytes = 24;

export const lows = Array.from({ length: 16 }, (_, index) => 500 + 70 * index);
/** The last one marks the beginning of a burst. */
export const highs = Array.from({ length: 17 }, (_, index) => 1950 + 80 * index);
export const beginning = 16;
const amplitude = 8_000;

/** The contents of a burst. */
export interface Burst {
  readonly text: string;
  /** 0 to 7. */
  readonly voice: number;
  /** True if the burst continues the word of the previous burst, without a space. */
  readonly isContinued: boolean;
}

/** Single spaces are the pauses between the bursts; all other white space is spoken. */
export function burstsOf(text: string, voice: number): Burst[] {
  return text
    .split(/(?<=\S) (?=\S)/)
    .flatMap((word) => piecesOf(word).map((piece, index) => ({ text: piece, voice, isContinued: index > 0 })));
}

function piecesOf(word: string): string[] {
  const pieces = [''];
  for (const character of word) {
    const longer = `${pieces.at(-1)}${character}`;
    if (Buffer.byteLength(longer) > maxBytes) pieces.push(character);
    else pieces[pieces.length - 1] = longer;
  }
  return pieces;
}

/**
 * Returns a function that speaks bursts at this speed. The tones of a pulse are computed once: texts may be up to 128
 * KB long.
 */
export function createTones(speed: number): (burst: Burst) => Int16Array {
  const length = pulseLength(speed);
  const [low, high] = [lows, highs].map((tones) => tones.map((hertz) => pulseOf(hertz, length)));
  return ({ text, voice, isContinued }) => {
    const flags = voice * 2 + Number(isContinued);
    const bytes = Buffer.from(text);
    const pulses = [[flags, beginning], ...[...bytes, checksum(flags, bytes)].map((byte) => [byte >> 4, byte & 15])];
    const samples = new Int16Array(pulses.length * length);
    for (const [index, [first = 0, second = 0]] of pulses.entries()) {
      const [one, other, at] = [low?.[first], high?.[second], index * length];
      for (let i = 0; i < length; i++) samples[at + i] = (one?.[i] ?? 0) + (other?.[i] ?? 0) + (noise[at + i] ?? 0);
    }
    return samples;
  };
}

function pulseOf(hertz: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => {
    return amplitude * Math.sin((Math.PI * i) / length) ** 2 * Math.sin(hertz * radians * i);
  });
}

/** The pause between two bursts, or several of them: a quiet room, in which live sessions find the first word. */
export function silenceBetween(speed: number, times = 1): Int16Array {
  const length = times * pulsesBetween * pulseLength(speed);
  return Int16Array.from({ length }, (_, at) => (noise[at % noise.length] ?? 0) / 30);
}

export const radians = (2 * Math.PI) / sampleRate;

/**
 * Noise between -600 and 600, the same in every burst. Without noise, the predictor of libopus is unstable and distorts
 * pulses.
 */
const noise = createNoise((maxBytes + 2) * pulseLength(1));

function createNoise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state / 2_147_483_647 - 0.5) * 1_200;
  });
}

export function pulseLength(speed: number): number {
  return Math.round((sampleRate * msPerPulse) / 1000 / Math.min(speed, maxSpeed));
}

export function checksum(flags: number, bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => (sum * 31 + byte + 7) & 255, flags);
}

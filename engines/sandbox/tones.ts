/**
 * Speech that carries its text. A word is a burst of pulses, each of two tones: a pulse that marks its beginning and names
 * the voice, one for each byte of UTF-8, and a checksum. The tones are between 500 and 3,230 Hz, the band of telephones, and
 * pulses fade. Survives every codec of the service, resampling and some noise.
 */

/** Hz. */
export const sampleRate = 16_000;
/** A byte, at a speed of 1. Shorter ones than at a speed of 2 do not survive codecs. */
const msPerPulse = 50;
const maxSpeed = 2;
/** The pause between two bursts, in pulses: longer than any pause within a burst, shorter than the end of a turn. */
const pulsesBetween = 2;
/** Longer words are several bursts, so that a recording can be cut within them. */
export const maxBytes = 24;

export const lows = Array.from({ length: 16 }, (_, index) => 500 + 70 * index);
/** The last one marks the beginning of a burst. */
export const highs = Array.from({ length: 17 }, (_, index) => 1950 + 80 * index);
export const beginning = 16;
const amplitude = 8_000;

/** What a burst says. */
export interface Burst {
  readonly text: string;
  /** 0 to 7. */
  readonly voice: number;
  /** Continues the word of the burst before, without a space. */
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

/** The samples of a burst. */
export function soundOf({ text, voice, isContinued }: Burst, speed: number): Int16Array {
  const flags = voice * 2 + Number(isContinued);
  const bytes = Buffer.from(text);
  const pulses = [
    [flags, beginning],
    ...[...bytes, checksum(flags, bytes)].map((byte) => [byte >> 4, byte & 15]),
  ] as const;
  const length = pulseLength(speed);
  const samples = new Int16Array(pulses.length * length);
  const noise = createNoise();
  for (const [index, [low = 0, high = 0]] of pulses.entries()) {
    const [step, otherStep] = [(lows[low] ?? 0) * radians, (highs[high] ?? 0) * radians];
    for (let i = 0; i < length; i++) {
      const loudness = amplitude * Math.sin((Math.PI * i) / length) ** 2;
      const tones = loudness * (Math.sin(step * i) + Math.sin(otherStep * i));
      samples[index * length + i] = Math.round(tones + noise());
    }
  }
  return samples;
}

/** Between -600 and 600, the same every time. Without it, the predictor of libopus is unstable: it distorts some pulses. */
function createNoise(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state / 2_147_483_647 - 0.5) * 1_200;
  };
}

export function silenceBetween(speed: number): Int16Array {
  return new Int16Array(pulsesBetween * pulseLength(speed));
}

export const radians = (2 * Math.PI) / sampleRate;

export function pulseLength(speed: number): number {
  return Math.round((sampleRate * msPerPulse) / 1000 / Math.min(speed, maxSpeed));
}

export function checksum(flags: number, bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => (sum * 31 + byte + 7) & 255, flags);
}

/** Sounds of rooms without a speaker, made here: from -1 to 1, the same in each run. */
import { noise } from '../support/noise.ts';

export const rate = 16_000;
const seconds = 12;

type Sound = Float32Array;

const noiseBytes = noise(2 * seconds * rate);
const white = (i: number): number => noiseBytes.readInt16LE(2 * i) / 32_768;

const make = (sampleAt: (seconds: number, i: number) => number): Sound =>
  Float32Array.from({ length: seconds * rate }, (_, i) => sampleAt(i / rate, i));

const sine = (hz: number, at: number): number => Math.sin(2 * Math.PI * hz * at);

/** Low noise, with the beat of its blades. */
function fan(): Sound {
  let low = 0;
  return make((at, i) => {
    low += 0.05 * (white(i) - low);
    return 3 * low * (1 + 0.2 * sine(23, at)) + 0.05 * sine(120, at);
  });
}

const hum = (): Sound => make((at) => [50, 150, 250].reduce((sum, hz, k) => sum + sine(hz, at) / 2 ** k, 0) / 2);

/** Bursts of noise that ring out: a decay in milliseconds, a loudness and a tone each. */
function bursts(events: readonly { readonly at: number; readonly loudness: number }[], decayMs: number): Sound {
  const sound = new Float32Array(seconds * rate);
  for (const { at, loudness } of events) {
    const from = Math.round(at * rate);
    for (let n = 0; n < 8 * decayMs * (rate / 1000) && from + n < sound.length; n++) {
      const ring = Math.exp(-n / (decayMs * (rate / 1000)));
      sound[from + n]! += loudness * ring * (0.7 * white((from + n * 7) % noiseLength) + 0.3 * sine(2_300, n / rate));
    }
  }
  return sound;
}
const noiseLength = seconds * rate;

const clicks = (): Sound =>
  bursts(
    Array.from({ length: seconds * 2 }, (_, n) => ({ at: 0.3 + n / 2, loudness: 0.9 })),
    3,
  );

/** Seven strokes a second, uneven, with a pause after each word. */
function keyboard(): Sound {
  const strokes: { at: number; loudness: number }[] = [];
  for (let at = 0.5, n = 0; at < seconds - 0.1; n++) {
    strokes.push({ at, loudness: 0.3 + 0.4 * Math.abs(white(n * 31)) }, { at: at + 0.07, loudness: 0.15 });
    at += 0.11 + 0.08 * Math.abs(white(n * 17)) + (n % 6 === 5 ? 0.35 : 0);
  }
  return bursts(strokes, 9);
}

/** Four chords with a melody and a drum. */
function music(): Sound {
  const chords = [[220, 277, 330], [196, 247, 294], [175, 220, 262], [196, 247, 330]] as const; // prettier-ignore
  const melody = [440, 494, 523, 587, 659, 587, 523, 494];
  const tone = (hz: number, at: number): number => sine(hz, at) + 0.4 * sine(2 * hz, at) + 0.2 * sine(3 * hz, at);
  return make((at, i) => {
    const [bar, note] = [Math.floor(at / 2) % 4, Math.floor(at * 4)];
    const [beat, within] = [at % 0.5, at % 0.25];
    const chord = chords[bar]!.reduce((sum, hz) => sum + tone(hz, at), 0) / 3;
    const voice = tone(melody[note % melody.length]!, at) * Math.exp(-6 * within);
    return 0.3 * chord + 0.4 * voice + 0.5 * white(i) * Math.exp(-60 * beat);
  });
}

export const noises = { fan: fan(), hum: hum(), clicks: clicks(), keyboard: keyboard(), music: music() };
export type Noise = keyof typeof noises;

/** When the noise begins, and when the speech does. */
const [noiseAt, speechAt] = [2, 6];
export const speechMs = 1000 * speechAt;

/** As 16-bit samples: a quiet room, then a noise at this share of full scale, then also speech. */
export function mix(kind: Noise, loudness: number, speech: Int16Array = new Int16Array()): Buffer {
  const samples = Int16Array.from(noises[kind], (sample, i) => {
    const share = i < noiseAt * rate ? 0 : loudness;
    const value = 32_767 * (share * sample + 0.000_5 * white(i)) + (speech[i - speechAt * rate] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(value)));
  });
  return Buffer.from(samples.buffer);
}

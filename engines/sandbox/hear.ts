/** Reads speech of the sandbox from audio: its text, and the times of its parts. */
import { sentenceEnds } from '../../lib/sentences.ts';
import type { TimedText } from '../contract/index.ts';
import { languages } from './languages.ts';
import { countLevels, loudLevel, newLevels, ToneReader, type PlacedBurst } from './tone-reader.ts';

export interface Heard {
  readonly text: string;
  /** ISO 639-1. */
  readonly language: string | null;
  /** The sentences. */
  readonly segments: readonly TimedText[];
  readonly words: readonly TimedText[];
}

/** Silence threshold, out of 32,768: above the noise that codecs add to silence. */
const silenceLevel = 328;

const silence: Heard = { text: '', language: null, segments: [], words: [] };

/** Reads the audio twice. Returns undefined for audio that the sandbox has not synthesized. */
export async function hear(sound: () => AsyncIterable<Int16Array>, signal: AbortSignal): Promise<Heard | undefined> {
  const levels = newLevels();
  let isSilent = true;
  for await (const samples of sound()) {
    signal.throwIfAborted();
    isSilent &&= samples.every((sample) => Math.abs(sample) < silenceLevel);
    countLevels(samples, levels);
  }
  if (isSilent) return silence;
  const reader = new ToneReader(loudLevel(levels));
  const bursts: PlacedBurst[] = [];
  for await (const samples of sound()) {
    signal.throwIfAborted();
    bursts.push(...reader.push(samples));
  }
  bursts.push(...reader.end());
  return bursts.length === 0 ? undefined : toHeard(bursts);
}

function toHeard(bursts: readonly PlacedBurst[]): Heard {
  let text = '';
  const places: Place[] = bursts.map((burst, index) => {
    text += index === 0 || burst.isContinued ? '' : ' ';
    const from = text.length;
    text += burst.text;
    return { ...burst, from };
  });
  const ends = [...sentenceEnds(text)];
  const sentences = ends.map((end, index) => partsOf(text.slice(ends[index - 1] ?? 0, end), ends[index - 1] ?? 0));
  const timed = (parts: readonly Part[]) => placeParts(parts, places);
  return {
    text: text.trim(),
    language: languages[(bursts[0]?.voice ?? 0) % languages.length]?.code ?? null,
    segments: timed(sentences.flatMap(({ whole }) => whole)),
    words: timed(sentences.flatMap(({ words }) => words)),
  };
}

interface Place extends PlacedBurst {
  /** Its offset in the text. */
  readonly from: number;
}

interface Part {
  readonly text: string;
  readonly from: number;
}

/** The sentence without the white space around it, and its words. */
function partsOf(sentence: string, from: number): { readonly whole: readonly Part[]; readonly words: readonly Part[] } {
  const words = [...sentence.matchAll(/\S+/g)].map(({ 0: text, index }) => ({ text, from: from + index }));
  const [first] = words;
  return { whole: first ? [{ text: sentence.trim(), from: first.from }] : [], words };
}

/** Parts are in the order of the bursts. */
function placeParts(parts: readonly Part[], places: readonly Place[]): TimedText[] {
  let at = 0;
  /** The time of a character, which shares its burst with the others in it. */
  const timeOf = (offset: number): number => {
    while (at > 0 && (places[at]?.from ?? 0) > offset) at -= 1;
    while ((places[at + 1]?.from ?? Infinity) <= offset) at += 1;
    const { from, text, startMs, endMs } = places[at] ?? { from: 0, text: ' ', startMs: 0, endMs: 0 };
    return Math.round(startMs + ((endMs - startMs) * Math.min(offset - from, text.length)) / text.length);
  };
  return parts.map(({ text, from }) => {
    const startMs = timeOf(from);
    // One burst back: the end of a word, not the beginning of the next one.
    const last = timeOf(from + text.length - 1);
    const { from: begin = 0, text: { length } = '', endMs = last } = places[at] ?? {};
    const isWhole = from + text.length >= begin + length;
    return { startMs, endMs: isWhole ? endMs : timeOf(from + text.length), text };
  });
}

/** Reads the speech of the sandbox in a sound: its text, and the times of its parts. */
import { sentenceEnds } from '../../lib/sentences.ts';
import type { TimedText } from '../contract/index.ts';
import { languages } from './languages.ts';
import { countLevels, loudLevel, newLevels, ToneReader, type PlacedBurst } from './tone-reader.ts';

export interface Transcribed {
  readonly text: string;
  /** ISO 639-1. */
  readonly language: string | null;
  /** The sentences. */
  readonly segments: readonly TimedText[];
  readonly words: readonly TimedText[];
}

/** Silence threshold, of 32,768: above the noise that codecs add to silence. */
const silenceLevel = 328;

/** Reads the sound twice, unless it is silent. Returns undefined for sounds that the sandbox has not spoken. */
export async function readSpeech(
  sound: () => AsyncIterable<Int16Array>,
  signal: AbortSignal,
): Promise<Transcribed | undefined> {
  const levels = newLevels();
  let isSilent = true;
  for await (const samples of sound()) {
    signal.throwIfAborted();
    isSilent &&= samples.every((sample) => Math.abs(sample) < silenceLevel);
    countLevels(samples, levels);
  }
  if (isSilent) return transcribed([]);
  const reader = new ToneReader(loudLevel(levels));
  const bursts: PlacedBurst[] = [];
  for await (const samples of sound()) {
    signal.throwIfAborted();
    bursts.push(...reader.push(samples));
  }
  bursts.push(...reader.end());
  return bursts.length === 0 ? undefined : transcribed(bursts);
}

function transcribed(bursts: readonly PlacedBurst[]): Transcribed {
  let text = '';
  /** Times of each character, as an equal share of its burst. */
  const [starts, ends]: [number[], number[]] = [[], []];
  for (const [index, { text: more, isContinued, startMs, endMs }] of bursts.entries()) {
    const gap = index === 0 || isContinued ? '' : ' ';
    const ms = (endMs - startMs) / more.length;
    for (let at = -gap.length; at < more.length; at++) {
      starts.push(startMs + at * ms);
      ends.push(startMs + (at + 1) * ms);
    }
    text += gap + more;
  }
  const timed = (from: number, to: number): TimedText => ({
    startMs: Math.round(starts[from] ?? 0),
    endMs: Math.round(ends[to - 1] ?? 0),
    text: text.slice(from, to),
  });
  const borders = [0, ...sentenceEnds(text)];
  const sentences = borders.slice(1).map((end, index) => wordsIn(text, borders[index] ?? 0, end));
  return {
    text: text.trim(),
    language: (bursts[0] && languages[bursts[0].voice % languages.length]?.code) ?? null,
    segments: sentences.flatMap((words) => (words[0] ? [timed(words[0].from, words.at(-1)?.to ?? 0)] : [])),
    words: sentences.flat().map(({ from, to }) => timed(from, to)),
  };
}

function wordsIn(text: string, from: number, end: number): { readonly from: number; readonly to: number }[] {
  const words = text.slice(from, end).matchAll(/\S+/g);
  return [...words].map(({ 0: word, index }) => ({ from: from + index, to: from + index + word.length }));
}

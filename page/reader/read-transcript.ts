/** Reads a transcript from a file that anyone may have written. Pure. */
import type { TimedText } from '../../src/client/index.ts';
import { isRecord } from '../library/stored-turns.ts';
import { longestName, type Speaker, type SpeakerTurn, type TimedTranscript } from './timed-transcript.ts';

const isTime = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

const isText = (value: unknown) => typeof value === 'string';

const isTimedText = (value: unknown): value is TimedText =>
  isRecord(value) &&
  isText(value.text) &&
  isTime(value.start_ms) &&
  isTime(value.end_ms) &&
  (value.speaker === undefined || isText(value.speaker));

const isTimedTexts = (value: unknown): value is readonly TimedText[] =>
  Array.isArray(value) && value.every(isTimedText) && value.every(isInOrder);

const isInOrder = ({ start_ms: ms }: TimedText, index: number, all: readonly TimedText[]) =>
  ms >= (all[index - 1]?.start_ms ?? 0);

const isTurns = (value: unknown): value is readonly SpeakerTurn[] =>
  isTimedTexts(value) && value.every(({ speaker }) => speaker !== undefined);

const isSpeakers = (value: unknown): value is readonly Speaker[] => Array.isArray(value) && value.every(isSpeaker);

const isSpeaker = (value: unknown) =>
  isRecord(value) &&
  isText(value.speaker) &&
  isTime(value.speech_ms) &&
  (value.name === undefined || isName(value.name));

const isName = (value: unknown) => typeof value === 'string' && value.trim() !== '' && value.length <= longestName;

/** Returns undefined for anything else. */
export function readTranscript(value: unknown): TimedTranscript | undefined {
  if (!isRecord(value)) return undefined;
  const { text, segments, words, language, speakers, turns, durationMs, model } = value;
  if (typeof text !== 'string' || !isTimedTexts(segments) || !isTimedTexts(words)) return undefined;
  return {
    ...{ text, segments, words, language: typeof language === 'string' ? language : null },
    ...(isSpeakers(speakers) && isTurns(turns) && { speakers, turns }),
    ...(isTime(durationMs) && { durationMs: durationMs as number }),
    ...(typeof model === 'string' && { model }),
  };
}

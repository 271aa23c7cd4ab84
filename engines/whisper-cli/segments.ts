/** Segments of whisper-cli, from its JSON and from the lines that it prints while it works. */
import type { TimedText } from '../contract/index.ts';

/** As the program reports it: times in milliseconds that may exceed the recording, text with its spaces. */
export interface RawSegment {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Whisper's annotations for silence. */
export const notes = /\[BLANK_AUDIO\]|\[ ?Silence ?\]/gi;

export function withoutNotes(text: string): string {
  return text.replace(notes, '');
}

/** Trimmed, with single spaces. */
export function tidy(text: string): string {
  return withoutControls(text).replace(/ {2,}/g, ' ').trim();
}

/** Replaces control characters, which whisper-cli does not escape, by spaces. */
export function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x1f]/g, ' ');
}

/**
 * Call the returned function with the segments in order: it returns them clean, within the recording and without overlap,
 * or undefined for silence.
 */
export function createTimeline(durationMs: number): (raw: RawSegment) => TimedText | undefined {
  let endMs = 0;
  return ({ from, to, text: rawText }) => {
    const text = tidy(withoutNotes(rawText));
    if (text === '') return undefined;
    const startMs = clamp(from, endMs, durationMs);
    endMs = clamp(to, startMs, durationMs);
    return { startMs, endMs, text };
  };
}

/** Whole milliseconds. `high` wins over `low`. */
export function clamp(ms: number, low: number, high: number): number {
  return Math.min(Math.max(Math.round(ms), low), high);
}

const segmentLine = /^\[(\d+):(\d+):(\d+)\.(\d{3}) --> (\d+):(\d+):(\d+)\.(\d{3})\] {2}(.*)$/;

/** Parses `[00:00:00.000 --> 00:00:01.840]   text`; undefined for any other line. */
export function readSegmentLine(line: string): RawSegment | undefined {
  const [, ...fields] = segmentLine.exec(line) ?? [];
  const text = fields.pop();
  if (text === undefined) return undefined;
  const [h1 = 0, m1 = 0, s1 = 0, ms1 = 0, h2 = 0, m2 = 0, s2 = 0, ms2 = 0] = fields.map(Number);
  return { from: toMs(h1, m1, s1) + ms1, to: toMs(h2, m2, s2) + ms2, text };
}

function toMs(hours: number, minutes: number, seconds: number): number {
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

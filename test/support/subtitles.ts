/** Subtitles as an independent parser reads them. */
import { parse } from '@plussub/srt-vtt-parser';

export interface Cue {
  /** Milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** SubRip or WebVTT. */
export function readSubtitles(file: string): Cue[] {
  return parse(file).entries.map(({ from, to, text }) => ({ from, to, text: text.trim() }));
}

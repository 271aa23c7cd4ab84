/** Subtitles as an independent parser reads them. */
import * as library from '@plussub/srt-vtt-parser';

export interface Cue {
  /** Milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

// Its declarations use imports without extensions, which TypeScript does not resolve here.
const { parse } = library as unknown as { readonly parse: (file: string) => { readonly entries: readonly Cue[] } };

/** SubRip or WebVTT. */
export function readSubtitles(file: string): Cue[] {
  return parse(file).entries.map(({ from, to, text }) => ({ from, to, text: text.trim() }));
}

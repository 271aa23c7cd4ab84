/** Formats the segments of a transcript as subtitles: SubRip and WebVTT. */
import type { TimedText } from '../../engines/contract/index.ts';
import type { Cue as ShapedCue } from './cues.ts';

type Segments = readonly (TimedText & Partial<Pick<ShapedCue, 'lines'>>)[];

/** Returns "" for silence. */
export function toSrt(segments: Segments): string {
  const cues = cuesOf(segments, (text) => text);
  return cues.map(({ start, end, text }, i) => `${i + 1}\n${start(',')} --> ${end(',')}\n${text}\n\n`).join('');
}

/** Returns only the header for silence. */
export function toVtt(segments: Segments): string {
  const cues = cuesOf(segments, escapeMarkup);
  return `WEBVTT\n\n${cues.map(({ start, end, text }) => `${start('.')} --> ${end('.')}\n${text}\n\n`).join('')}`;
}

interface Cue {
  readonly start: (separator: string) => string;
  readonly end: (separator: string) => string;
  readonly text: string;
}

/** A cue without text would look like the end of the cue before it. */
function cuesOf(segments: Segments, escape: (text: string) => string): Cue[] {
  return segments.flatMap(({ startMs, endMs, text, lines = [text] }) => {
    const shown = lines.map((line) => escape(toLine(line))).filter((line) => line !== '');
    return shown.length === 0 ? [] : [{ start: timestamp(startMs), end: timestamp(endMs), text: shown.join('\n') }];
  });
}

/**
 * A blank line ends a cue, and a line with an arrow has the times of the next cue. SubRip has no escapes. Some players
 * end a file at a NUL.
 */
function toLine(text: string): string {
  return text
    .replace(/[\s\0]*[\r\n\v\f\0\x85\u2028\u2029][\s\0]*/g, ' ')
    .replace(/-{2,}>/g, '->')
    .trim();
}

/** WebVTT supports tags and character references. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Formats whole milliseconds as `00:00:01,840`. */
function timestamp(ms: number): (separator: string) => string {
  const pad = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, '0');
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) => pad(part, 2)).join(':');
  return (separator) => `${clock}${separator}${pad(ms % 1000, 3)}`;
}

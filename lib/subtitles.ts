/** Formats a transcript: its segments as SubRip or WebVTT, the turns of its speakers as lines. */

interface Timed {
  readonly startMs: number;
  readonly endMs: number;
}

interface Segment extends Timed {
  readonly text: string;
  readonly speaker?: string | undefined;
  /** `text`, line by line. Default: one line. */
  readonly lines?: readonly string[];
}

type Segments = readonly Segment[];

/** Returns "" for silence. `durationMs`: the length of the recording, if known. */
export function toSrt(segments: Segments, durationMs?: number): string {
  const cues = cuesOf(segments, durationMs, { escape: (text) => text, name: (speaker) => `${speaker}: ` });
  return cues.map(({ start, end, text }, i) => `${i + 1}\n${start(',')} --> ${end(',')}\n${text}\n\n`).join('');
}

/** Returns only the header for silence. `durationMs`: the length of the recording, if known. */
export function toVtt(segments: Segments, durationMs?: number): string {
  const cues = cuesOf(segments, durationMs, {
    escape: escapeMarkup,
    name: (speaker) => `<v ${speaker.replaceAll('>', '&gt;')}>`,
  });
  return `WEBVTT\n\n${cues.map(({ start, end, text }) => `${start('.')} --> ${end('.')}\n${text}\n\n`).join('')}`;
}

/** Returns one line for each turn. */
export function toLines(turns: readonly { readonly speaker: string; readonly text: string }[]): string {
  return turns.map(({ speaker, text }) => `${toLine(speaker)}: ${text}\n`).join('');
}

interface Cue {
  readonly start: (separator: string) => string;
  readonly end: (separator: string) => string;
  readonly text: string;
}

interface Style {
  readonly escape: (text: string) => string;
  /** Returns the text before the words of a speaker. */
  readonly name: (speaker: string) => string;
}

/** A cue without text would look like the end of the cue before it. */
function cuesOf(segments: Segments, durationMs: number | undefined, { escape, name }: Style): Cue[] {
  const shown = segments.flatMap(({ text, speaker, lines = [text], ...times }) => {
    const visible = lines.map((line) => escape(toLine(line))).filter((line) => line !== '');
    const prefix = speaker === undefined ? '' : name(escape(toLine(speaker)));
    return visible.length === 0 ? [] : [{ ...times, text: prefix + visible.join('\n') }];
  });
  return timesOf(shown, durationMs).map(({ startMs, endMs, text }) => ({
    ...{ start: timestamp(startMs), end: timestamp(endMs), text },
  }));
}

/** Length given to a cue that has none, if there is room for it. */
const usualMs = 1_000;

/** Players reject or drop cues without a length: each ends after it starts, and no later than the next one starts. */
function timesOf<T extends Timed>(cues: readonly T[], durationMs = Infinity): T[] {
  const starts = startsOf(cues, durationMs);
  return cues.map((cue, index) => {
    const startMs = starts[index] ?? 0;
    const limit = starts[index + 1] ?? Math.max(durationMs, startMs + 1);
    const endMs = cue.endMs > startMs ? cue.endMs : startMs + usualMs;
    return { ...cue, startMs, endMs: Math.min(endMs, limit) };
  });
}

/** Returns ascending starts, all of them different: cues that start together share their time. */
function startsOf(cues: readonly Timed[], durationMs: number): number[] {
  const groups: { startMs: number; endMs: number; count: number }[] = [];
  for (const { startMs, endMs } of cues) {
    const last = groups.at(-1);
    if (last === undefined || startMs > last.startMs) groups.push({ startMs, endMs, count: 1 });
    else Object.assign(last, { endMs: Math.max(last.endMs, endMs), count: last.count + 1 });
  }
  const starts: number[] = [];
  let limit = Math.max(durationMs, cues.length);
  for (const [index, { startMs, endMs, count }] of [...groups.entries()].reverse()) {
    // Without room before the end of the recording, the cues begin earlier.
    const half = Math.floor((limit - (groups[index - 1]?.startMs ?? 0)) / 2);
    const isLate = startMs > limit - count;
    const first = isLate ? limit - Math.max(count, Math.min(half, count * usualMs)) : startMs;
    const room = Math.min(limit, Math.max(endMs, first + count * usualMs)) - first;
    const step = Math.max(1, Math.floor(room / count));
    for (let at = count - 1; at >= 0; at -= 1) starts.push(first + at * step);
    limit = first;
  }
  return starts.reverse();
}

/**
 * A blank line ends a cue, and a line with an arrow has the times of the next cue. SubRip has no escapes. Some players
 * stop reading a file at a NUL.
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

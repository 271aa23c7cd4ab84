/** The user's own recordings, with their transcripts next to them. A recording is found by its content. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { OptionsError, type Recording, type Span } from '../contract/index.ts';

/** A line of plain text has no times. */
export interface Line extends Partial<Span> {
  readonly text: string;
}

type Find = (recording: Recording) => Promise<readonly Line[] | undefined>;

const ending = /\.(vtt|srt|txt)$/i;

/** Reads the folder. Parts of the recording of a job are not found. Throws an `OptionsError`. */
export function readRecordings(folder: string): Find {
  const transcripts = new Map<string, readonly Line[]>();
  try {
    const names = readdirSync(folder);
    for (const name of names.filter((one) => ending.test(one))) {
      const lines = linesOf(readFileSync(join(folder, name), 'utf8'), /\.txt$/i.test(name));
      const own = names.filter((other) => other.startsWith(name.replace(ending, '.')) && !ending.test(other));
      if (own.length === 0) throw new Error(`there is no recording beside ${name}`);
      for (const other of own) transcripts.set(hashOf(readFileSync(join(folder, other))), lines);
    }
  } catch (error) {
    throw new OptionsError(`recordings: ${messageOf(error)}`);
  }
  return async ({ path, slice }) => (slice ? undefined : transcripts.get(hashOf(await readFile(path))));
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const cue = /^((?:\d+:)?\d+:\d+[.,]\d+) +--> +((?:\d+:)?\d+:\d+[.,]\d+).*\n((?:.*\S.*(?:\n|$))*)/gm;

function linesOf(source: string, isPlain: boolean): readonly Line[] {
  const text = source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const lines: Line[] = isPlain
    ? text.split('\n').map((line) => ({ text: line }))
    : [...text.matchAll(cue)].map(([, start = '', end = '', said = '']) => ({
        ...{ startMs: toMs(start), endMs: toMs(end), text: withoutMarkup(said) },
      }));
  const whole = lines.map((line) => ({ ...line, text: line.text.trim().replace(/\s+/g, ' ') }));
  return whole.filter((line) => line.text !== '');
}

function toMs(clock: string): number {
  const [seconds = 0, minutes = 0, hours = 0] = clock.replace(',', '.').split(':').reverse().map(Number);
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000);
}

function withoutMarkup(said: string): string {
  return said
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

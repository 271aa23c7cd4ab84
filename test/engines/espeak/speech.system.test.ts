/** The time until eSpeak speech begins, and until it ends after its caller disconnects, with the program and the package. */
import { expect, it, vi } from 'vitest';
import { speechFormats } from '../../../engines/contract/index.ts';
import { describeWith } from '../../support/programs.ts';
import { processes } from '../../support/proc.ts';
import { until } from '../../support/processes.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { collect, sentence, startEspeak, type Synthesizer } from './support.ts';

vi.setConfig({ testTimeout: 90_000 });

/** How long anything of a synthesis may stay alive after an abort. */
const soonMs = 250;

const children = () => processes().filter(({ parent }) => parent === process.pid).length;

function isPrompt(synthesizer: Synthesizer): void {
  it('streams: the first bytes arrive long before the last', async () => {
    const { say } = await startEspeak(synthesizer);
    await collect(say({})); // the thread of the encoder is there
    const started = performance.now();
    const speech = await say({ text: sentence.repeat(29) });
    const first = performance.now() - started;
    await collect(speech);
    expect(first / (performance.now() - started)).toBeLessThan(0.5);
  });

  it('ends within 250 ms after an abort at any time', async () => {
    const { say } = await startEspeak(synthesizer);
    await collect(say({}));
    const before = children();
    for (const format of speechFormats) {
      for (const afterMs of [0, 60, 400]) {
        const caller = new AbortController();
        const reason = new Error('the caller has left');
        const outcome = say({ text: sentence.repeat(450), format }, caller.signal).then(collect);
        const seen = outcome.catch((error: unknown) => error);
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        const sinceLeft = startStopwatch();
        caller.abort(reason);
        expect(await seen, format).toBe(reason);
        await until('no child is left', () => children() <= before, soonMs);
        expect(sinceLeft()).toBeLessThan(soonMs);
      }
    }
  });

  it('ends when the reader stops, and frees its slot', async () => {
    const { say } = await startEspeak(synthesizer, 'slots: 1, waiting: 0');
    const before = children();
    const speech = await say({ text: sentence.repeat(450) });
    await expect(say({})).rejects.toMatchObject({ code: 'overloaded' });
    const chunks = speech.audio[Symbol.asyncIterator]();
    await chunks.next();
    await chunks.return?.();
    await until('no child is left', () => children() <= before, soonMs);
    const unread = await say({ text: sentence.repeat(450) });
    await unread.audio[Symbol.asyncIterator]().return?.();
    await until('no child is left', () => children() <= before, soonMs);
    await collect(say({}));
    expect(await collect(say({ format: 'ogg' })), 'a place is free after a whole speech too').not.toHaveLength(0);
  });
}

describeWith(['espeak-ng', 'ffmpeg'], 'espeak-ng, the program', () => isPrompt('program'));
describeWith(['ffmpeg'], 'espeak-ng, the package', () => isPrompt('package'));

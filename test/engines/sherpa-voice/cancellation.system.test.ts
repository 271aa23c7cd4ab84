/** A client disconnects in the middle of a long sentence, with a slow voice. */
import { expect, it, vi } from 'vitest';
import { ticksOf, until } from '../../support/processes.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { recognize } from '../../support/tone-listener.ts';
import { sentenceOf, startVoices } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

it('is rejected within 250 ms; the program ends or is idle within 2.5 s, and others are served', async () => {
  const { say, wav, programs } = await startVoices({ voices: { voice: { isMedium: true } }, options: { slots: 2 } });
  await wav({ text: 'yes.' });
  for (const isAlone of [true, false]) {
    const [program] = programs();
    const leaving = new AbortController();
    const before = ticksOf(program!);
    const speech = say({ text: sentenceOf(120, 0) }, leaving.signal);
    speech.catch(() => {});
    const other = isAlone ? undefined : wav({ text: sentenceOf(100, 1) });
    await until('it is busy', () => ticksOf(program!) >= before + 10);
    const elapsedMs = startStopwatch();
    leaving.abort(new Error('gone'));
    await expect(speech).rejects.toThrow('gone');
    expect(elapsedMs()).toBeLessThan(250);
    if (isAlone) await until('the program has ended', () => !programs().includes(program!), 2_500);
    else expect(recognize((await other)!).replaceAll(' ', '')).toBe(sentenceOf(100, 1).replaceAll(' ', ''));
    expect(recognize(await wav())).toBe('yes no hello');
  }
});

/** A client that disconnects in the middle of a piece, with a model that takes its time. */
import { expect, it, vi } from 'vitest';
import { ticksOf, until } from '../../support/processes.ts';
import { tonePcm, words } from '../../support/tone-model.ts';
import { longRecording, recordingOf, startRecognizers } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

it('ends its program within 2.5 s if no one else is served; others are served to the end', async () => {
  const models = { words: { code: 'words', isSlow: true } } as const;
  const { transcribe, programs, service } = await startRecognizers({ models, options: { slots: 2 } });
  const short = recordingOf(tonePcm({ words: ['alpha'], rate: 16_000 }));
  const other = recordingOf(tonePcm({ words: words.slice(0, 9), rate: 16_000 }));
  await transcribe(short);
  for (const isAlone of [true, false]) {
    const [program] = programs();
    const before = ticksOf(program!);
    const leaving = new AbortController();
    const left = transcribe(longRecording(words), {}, leaving.signal);
    left.catch(() => {});
    const served = isAlone ? undefined : transcribe(other);
    await until('it is busy', () => ticksOf(program!) >= before + 10);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    if (isAlone) await until('the program has ended', () => !programs().includes(program!), 2_500);
    else expect(await served).toMatchObject({ status: 200, text: words.slice(0, 9).join(' ') });
    expect(await transcribe(short)).toMatchObject({ status: 200, text: 'alpha' });
  }
  await until('nothing is left behind', async () => (await service.leftovers()).length === 0);
});

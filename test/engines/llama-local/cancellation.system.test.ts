/** A client that disconnects while the model reads a long prompt, or answers: the model stops, others continue. */
import { describe, expect, test } from 'vitest';
import { answers } from '../../support/chat-model.ts';
import { ticksOf, until } from '../../support/processes.ts';
import { hasLibrary, startLocalChat } from './support.ts';

const forever = 'Go on forever.';

describe.skipIf(!hasLibrary)('a chat that its client leaves', () => {
  test.each([
    ['while the prompt is read', `${'z'.repeat(3_000)} ${forever}`],
    ['while it is answered', forever],
  ])('%s stops the model', async (_when, message) => {
    const { ask, programs } = await startLocalChat();
    await ask('Hello.');
    const [program] = programs();
    for (let round = 0; round < 3; round += 1) {
      const leaving = new AbortController();
      const before = ticksOf(programs()[0]!);
      const left = ask(`${round} ${message}`, {}, leaving.signal);
      left.catch(() => {});
      await until('it is busy', () => ticksOf(programs()[0]!) > before + 3);
      leaving.abort(new Error('gone'));
      await expect(left).rejects.toThrow('gone');
      await until('it is idle', async () => {
        const [now] = programs();
        if (now === undefined) return true;
        const ticks = ticksOf(now);
        await new Promise((resolve) => setTimeout(resolve, 100));
        return ticksOf(now) <= ticks + 1;
      }, 2_500); // prettier-ignore
      expect(await ask('Hello.')).toMatchObject({ status: 200, content: answers.plain });
    }
    expect(programs(), 'it was not killed').toEqual([program]);
  });
});

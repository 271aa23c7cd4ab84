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

  test('in the middle of a long piece of the prompt, 20 times, loads no model twice and reads nothing twice', async () => {
    // Late in a prompt of this length, a piece takes longer than the service waits for a confirmation.
    const contextSize = 32_768;
    const { ask, programs, rounds, service } = await startLocalChat({ context: contextSize, options: { contextSize } });
    const messages = ['user', 'assistant', 'user'].map((role) => ({ role, content: 'z'.repeat(5_500) }));
    expect(await ask('Hello.')).toMatchObject({ status: 200 });
    for (let round = 0; round < 20; round += 1) {
      const leaving = new AbortController();
      const before = ticksOf(programs()[0]!);
      const left = ask(messages, {}, leaving.signal);
      left.catch(() => {});
      await until('it is busy', () => ticksOf(programs()[0]!) > before + 9);
      leaving.abort(new Error('gone'));
      await expect(left).rejects.toThrow('gone');
    }
    expect(await ask(messages.slice(0, 1), { max_tokens: 1 })).toMatchObject({ status: 200 });
    const { promptTokens, readTokens } = rounds().at(-1) as Readonly<Record<string, number>>;
    expect(readTokens).toBeLessThan(promptTokens! - 1_000);
    expect(service.log.filter(({ msg }) => msg === 'the model is loaded')).toHaveLength(1);
  });
});

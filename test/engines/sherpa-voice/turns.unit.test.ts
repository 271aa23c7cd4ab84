/** Speeches take turns on one queue. */
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../engines/sherpa-voice/turns.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';

const { signal } = new AbortController();
const first = { signal, hasBegun: false };
const later = { signal, hasBegun: true };

function startTurns() {
  const takeTurn = createTurns(createQueue({ slots: 1, waiting: 1 }, () => 0));
  const running = Promise.withResolvers<string>();
  const waiting = Promise.withResolvers<string>();
  return {
    takeTurn,
    running,
    waiting,
    full: [takeTurn(() => running.promise, first), takeTurn(() => waiting.promise, first)],
  };
}

describe('when the queue is full', () => {
  it('a speech that has not begun is refused', async () => {
    const { takeTurn } = startTurns();
    await expect(takeTurn(() => Promise.resolve(1), first)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('one that has begun waits for room', async () => {
    const { takeTurn, running, waiting, full } = startTurns();
    const both = [takeTurn(() => Promise.resolve('third'), later), takeTurn(() => Promise.resolve('fourth'), later)];
    running.resolve('first');
    waiting.resolve('second');
    expect(await Promise.all([...full, ...both])).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('and stops when its signal aborts', async () => {
    const { takeTurn } = startTurns();
    const leaving = new AbortController();
    const turn = takeTurn(() => Promise.resolve(1), { signal: leaving.signal, hasBegun: true });
    leaving.abort(new Error('gone'));
    await expect(turn).rejects.toThrow('gone');
  });

  it('a failure of a turn, overloaded too, is that of its speech', async () => {
    const { takeTurn, running, waiting, full } = startTurns();
    const failing = takeTurn(() => Promise.reject(new Error('broken')), later);
    running.reject(new Error('first'));
    waiting.resolve('second');
    const [one, two, three] = await Promise.allSettled([...full, failing]);
    expect([one, two, three]).toMatchObject([{ reason: { message: 'first' } }, { value: 'second' }, { reason: { message: 'broken' } }]); // prettier-ignore
  });
});

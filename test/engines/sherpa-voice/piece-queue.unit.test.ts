/** Speeches share one queue, piece by piece. */
import { describe, expect, it } from 'vitest';
import { createPieceQueue } from '../../../engines/sherpa-voice/piece-queue.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';

const { signal } = new AbortController();
const first = { signal, hasBegun: false };
const later = { signal, hasBegun: true };

function startQueue() {
  const runPiece = createPieceQueue(createQueue({ slots: 1, waiting: 1 }, () => 0));
  const running = Promise.withResolvers<string>();
  const waiting = Promise.withResolvers<string>();
  return {
    runPiece,
    running,
    waiting,
    full: [runPiece(() => running.promise, first), runPiece(() => waiting.promise, first)],
  };
}

describe('when the queue is full', () => {
  it('a speech that has not begun is refused', async () => {
    const { runPiece } = startQueue();
    await expect(runPiece(() => Promise.resolve(1), first)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('one that has begun waits for room', async () => {
    const { runPiece, running, waiting, full } = startQueue();
    const both = [runPiece(() => Promise.resolve('third'), later), runPiece(() => Promise.resolve('fourth'), later)];
    running.resolve('first');
    waiting.resolve('second');
    expect(await Promise.all([...full, ...both])).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('and stops when its signal aborts', async () => {
    const { runPiece } = startQueue();
    const leaving = new AbortController();
    const piece = runPiece(() => Promise.resolve(1), { signal: leaving.signal, hasBegun: true });
    leaving.abort(new Error('gone'));
    await expect(piece).rejects.toThrow('gone');
  });

  it('a failure of a piece, also an overload, is that of its speech', async () => {
    const { runPiece, running, waiting, full } = startQueue();
    const failing = runPiece(() => Promise.reject(new Error('broken')), later);
    running.reject(new Error('first'));
    waiting.resolve('second');
    const [one, two, three] = await Promise.allSettled([...full, failing]);
    expect([one, two, three]).toMatchObject([{ reason: { message: 'first' } }, { value: 'second' }, { reason: { message: 'broken' } }]); // prettier-ignore
  });
});

/** The four primitives of cancellation, whatever the order in which things happen. */
import { getEventListeners } from 'node:events';
import fc from '../support/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { abortable, linkedSignal, onAbort, pause, raceAbort, startTimeout } from '../../lib/abort.ts';

const gone = new Error('gone');
const never = () => new Promise<never>(() => undefined);
const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
};

describe('a linked signal', () => {
  it('aborts with the reason of the first parent that aborts, and with none after its disposal', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat(4), { maxLength: 6 }),
        fc.nat(6),
        (count, order, disposedAfter) => {
          const parents = Array.from({ length: count }, () => new AbortController());
          const link = linkedSignal(...parents.map(({ signal }) => signal));
          order.forEach((index, at) => {
            if (at === disposedAfter) link[Symbol.dispose]();
            parents[index]?.abort(index);
          });
          const first = order.slice(0, disposedAfter).find((index) => index < count);
          expect(link.signal.aborted).toBe(first !== undefined);
          if (first !== undefined) expect(link.signal.reason).toBe(first);
        },
      ),
    );
  });

  it('is aborted at once by a parent that is', () => {
    expect(linkedSignal(AbortSignal.abort(gone)).signal.reason).toBe(gone);
  });

  it('leaves no listener at its parents', () => {
    const parent = new AbortController().signal;
    for (const make of [() => linkedSignal(parent), () => startTimeout(60_000, () => gone, parent)]) {
      const link = make();
      expect(listenersOf(parent)).toBe(1);
      link[Symbol.dispose]();
      expect(listenersOf(parent)).toBe(0);
    }
  });

  it('races one work after the other with one listener', async () => {
    const link = linkedSignal();
    for (let work = 0; work < 3; work++) expect(await link.race(Promise.resolve(work))).toBe(work);
    expect(listenersOf(link.signal)).toBe(1);
    const last = link.race(never());
    link.abort(gone);
    await expect(last).rejects.toBe(gone);
    await expect(link.race(Promise.resolve(1))).rejects.toBe(gone);
  });

  it('aborts with what is late, and not before', async () => {
    const link = linkedSignal();
    expect(await link.within(60_000, () => gone, Promise.resolve('in time'))).toBe('in time');
    await expect(link.within(1, () => gone, never())).rejects.toBe(gone);
    expect(link.signal.reason).toBe(gone);
  });
});

describe('a timeout', () => {
  it('waits for as long as is known when it would expire', async () => {
    const asked: number[] = [];
    const limit = () => [1, 3, 3][asked.push(0) - 1] ?? 3;
    using timeout = startTimeout(limit, () => gone);
    await new Promise((resolve) => timeout.signal.addEventListener('abort', resolve));
    expect(timeout.signal.reason).toBe(gone);
    expect(asked).toHaveLength(3); // at its start, raised once, then the same
  });

  it('aborts with what is late', async () => {
    using timeout = startTimeout(1, () => gone);
    await new Promise((resolve) => onAbort(timeout.signal, resolve));
    expect(timeout.signal.reason).toBe(gone);
  });

  it('throws the reason of a parent that has aborted', () => {
    expect(() => startTimeout(60_000, () => new Error('late'), AbortSignal.abort(gone))).toThrow(gone);
  });

  it('aborts with its parent', () => {
    const parent = new AbortController();
    using timeout = startTimeout(60_000, () => new Error('late'), parent.signal);
    parent.abort(gone);
    expect(timeout.signal.reason).toBe(gone);
  });
});

describe('a race', () => {
  it('has the outcome of what comes first, and leaves no listener', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.nat(6), fc.boolean(), async (workAfter, abortAfter, fails) => {
        const parent = new AbortController();
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        const race = raceAbort(promise, parent.signal).catch((error: unknown) => error);
        for (let at = 0; at <= 6; at++) {
          if (at === abortAfter) parent.abort(gone);
          if (at === workAfter) (fails ? reject : resolve)('done');
          await turns(4);
        }
        expect(await race).toBe(abortAfter <= workAfter ? gone : 'done');
        expect(listenersOf(parent.signal)).toBe(0);
      }),
    );
  });

  it('ends a pause at once', async () => {
    const parent = new AbortController();
    const waiting = pause(60_000, parent.signal);
    parent.abort(gone);
    await expect(waiting).rejects.toBe(gone);
  });
});

describe('an abortable iteration', () => {
  /** Yields 0, 1, 2, ... after as many turns as it is told, heeding its signal or not. */
  function counting(length: number, wait: number, heeds: boolean) {
    const seen = { opened: 0, closed: 0, aborted: undefined as unknown };
    async function* open(signal: AbortSignal) {
      seen.opened += 1;
      onAbort(signal, (reason) => (seen.aborted = reason));
      try {
        for (let item = 0; item < length; item++) {
          await (heeds ? raceAbort(turns(wait), signal) : turns(wait));
          yield item;
        }
      } finally {
        seen.closed += 1;
      }
    }
    return { open, seen };
  }

  it('yields what its source yields, and leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fc.nat(3), async (length, wait) => {
        const parent = new AbortController().signal;
        const { open, seen } = counting(length, wait, true);
        const items: number[] = [];
        for await (const item of abortable(open, parent)) items.push(item);
        expect(items).toEqual(Array.from({ length }, (_, index) => index));
        expect(seen).toEqual({ opened: 1, closed: 1, aborted: undefined });
        expect(listenersOf(parent)).toBe(0);
      }),
    );
  });

  it('rejects once with the reason of an abort, at any moment, and is over then', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(4), fc.nat(3), fc.boolean(), fc.boolean(), async (read, wait, heeds, isWaiting) => {
        const parent = new AbortController();
        const { open, seen } = counting(10, wait, heeds);
        const iterator = abortable(open, parent.signal);
        for (let item = 0; item < read; item++) expect(await iterator.next()).toEqual({ done: false, value: item });
        const waiting = isWaiting ? iterator.next() : undefined;
        parent.abort(gone);
        await expect(waiting ?? iterator.next()).rejects.toBe(gone);
        expect(await iterator.next()).toEqual({ done: true, value: undefined });
        await turns(40);
        expect(seen.closed).toBe(seen.opened);
        if (seen.opened > 0) expect(seen.aborted).toBe(gone);
        expect(listenersOf(parent.signal)).toBe(0);
      }),
    );
  });

  it('ends at return(), even while the next item is waited for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(4), fc.nat(3), fc.boolean(), async (read, wait, isWaiting) => {
        const parent = new AbortController().signal;
        const { open, seen } = counting(10, wait, true);
        const iterator = abortable(open, parent);
        for (let item = 0; item < read; item++) await iterator.next();
        const waiting = isWaiting ? iterator.next() : undefined;
        await iterator.return?.();
        if (waiting) expect(await waiting).toEqual({ done: true, value: undefined });
        await turns(40);
        expect(seen.closed).toBe(seen.opened);
        expect(seen.aborted === undefined).toBe(seen.opened === 0);
        expect(listenersOf(parent)).toBe(0);
      }),
    );
  });

  it('aborts nothing after its last item', async () => {
    const parent = new AbortController();
    const { open, seen } = counting(2, 0, false);
    const iterator = abortable(open, parent.signal, (item) => item === 1);
    await iterator.next();
    await iterator.next();
    parent.abort(gone);
    await iterator.return?.();
    await turns(10);
    expect(seen).toEqual({ opened: 1, closed: 1, aborted: undefined });
  });

  it('passes on what its source throws, and aborts the source with it', async () => {
    let reason: unknown;
    const failing = abortable((signal) => {
      onAbort(signal, (why) => (reason = why));
      return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(gone) }) };
    }, new AbortController().signal);
    await expect(failing.next()).rejects.toBe(gone);
    expect(reason).toBe(gone);
    const broken = abortable(() => {
      throw gone;
    }, new AbortController().signal);
    await expect(broken.next()).rejects.toBe(gone);
  });
});

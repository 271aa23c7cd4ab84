/** Timeouts of a synthesis, also for engines that ignore their signal. */
import { describe, expect, test } from 'vitest';
import { EngineError, type Speech } from '../../engines/contract/index.ts';
import { withTimeouts } from '../../src/speech/timeouts.ts';

const never = <T>() => new Promise<T>(() => undefined);
const bytes = new Uint8Array(10);
const limits = { firstBytesMs: 50, silenceMs: 50 };
const noCaller = new AbortController().signal;

/** Speaks what it is given, then waits for ever. */
function engine(...pieces: readonly Uint8Array[]) {
  const seen: { signal?: AbortSignal; returned?: true } = {};
  const synthesize = (signal: AbortSignal): Promise<Speech> => {
    seen.signal = signal;
    const left = [...pieces];
    const audio: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => audio,
      next: () => {
        const value = left.shift();
        return value ? Promise.resolve({ done: false, value }) : never();
      },
      return: () => {
        seen.returned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
    return Promise.resolve({ mediaType: 'audio/mpeg', audio });
  };
  return { synthesize, seen };
}

async function read({ audio }: Speech): Promise<number> {
  let read = 0;
  for await (const piece of audio) read += piece.length;
  return read;
}

describe('a synthesis', () => {
  test('that does not start in time is engine-timeout, and the engine is stopped', async () => {
    const { synthesize, seen } = engine();
    const speech = withTimeouts(synthesize, { signal: noCaller }, limits);
    await expect(speech).rejects.toMatchObject({ code: 'engine-timeout', message: /no audio within 0.05 s/ });
    expect(seen.signal?.aborted).toBe(true);
  });

  test('that does not resolve in time is engine-timeout', async () => {
    const speech = withTimeouts(() => never<Speech>(), { signal: noCaller }, limits);
    await expect(speech).rejects.toMatchObject({ code: 'engine-timeout' });
  });

  test('does not start with an empty piece', async () => {
    const { synthesize } = engine(new Uint8Array(), bytes);
    const { audio } = await withTimeouts(synthesize, { signal: noCaller }, limits);
    expect((await audio[Symbol.asyncIterator]().next()).value).toBe(bytes);
  });

  test('of only empty pieces is engine-failed', async () => {
    async function* audio() {
      yield await Promise.resolve(new Uint8Array());
    }
    const synthesize = () => Promise.resolve({ mediaType: 'audio/mpeg', audio: audio() });
    await expect(withTimeouts(synthesize, { signal: noCaller }, limits)).rejects.toMatchObject({
      code: 'engine-failed',
    });
  });

  test('that timed out in the queue is overloaded, if its engine reports that', async () => {
    const full = new EngineError('overloaded', 'All places are taken.', { retryAfter: 7 });
    const waitsInLine = (failure: Error) => (signal: AbortSignal) =>
      new Promise<Speech>((_resolve, reject) => signal.addEventListener('abort', () => reject(failure)));
    await expect(withTimeouts(waitsInLine(full), { signal: noCaller }, limits)).rejects.toBe(full);
    const speech = withTimeouts(waitsInLine(new Error('another reason')), { signal: noCaller }, limits);
    await expect(speech).rejects.toMatchObject({ code: 'engine-timeout' });
  });

  test('that stalls is engine-timeout, and the engine is stopped', async () => {
    const { synthesize, seen } = engine(bytes, bytes);
    const speech = await withTimeouts(synthesize, { signal: noCaller }, limits);
    await expect(read(speech)).rejects.toMatchObject({ code: 'engine-timeout', message: /no further audio/ });
    expect(seen).toMatchObject({ signal: { aborted: true }, returned: true });
  });

  test('waits for its reader indefinitely', async () => {
    const source = async function* () {
      for (let i = 0; i < 3; i++) yield Promise.resolve(bytes);
    };
    const speech = await withTimeouts(
      () => Promise.resolve({ mediaType: 'audio/mpeg', audio: source() }),
      { signal: noCaller },
      limits,
    );
    await new Promise((resolve) => setTimeout(resolve, 2 * limits.firstBytesMs));
    expect(await read(speech)).toBe(30);
  });

  test('stops in the middle of a piece when its reader returns', async () => {
    const { synthesize, seen } = engine(bytes);
    const { audio } = await withTimeouts(synthesize, { signal: noCaller }, { ...limits, silenceMs: 60_000 });
    const reader = audio[Symbol.asyncIterator]();
    await reader.next();
    const pending = expect(reader.next()).rejects.toThrow('no longer consumed');
    await reader.return?.();
    await pending;
    expect(seen).toMatchObject({ signal: { aborted: true }, returned: true });
    expect(await reader.next()).toMatchObject({ done: true });
  });

  test('is not stopped by the `waiting` signal after the first bytes', async () => {
    const [waiting, caller] = [new AbortController(), new AbortController()];
    const { synthesize, seen } = engine(bytes);
    const { audio } = await withTimeouts(synthesize, { signal: caller.signal, waiting: waiting.signal }, limits);
    waiting.abort();
    expect(seen.signal?.aborted).toBe(false);
    caller.abort(new Error('gone'));
    await expect(audio[Symbol.asyncIterator]().next()).rejects.toThrow('gone');
    expect(seen.signal?.aborted).toBe(true);
  });

  test('is stopped by the `waiting` signal before the first bytes', async () => {
    const waiting = new AbortController();
    const { synthesize, seen } = engine();
    const speech = withTimeouts(
      synthesize,
      { signal: noCaller, waiting: waiting.signal },
      { ...limits, firstBytesMs: 60_000 },
    );
    waiting.abort(new Error('enough'));
    await expect(speech).rejects.toThrow('enough');
    expect(seen.signal?.aborted).toBe(true);
  });

  test('that an engine starts after a disconnect is closed', async () => {
    const caller = new AbortController();
    const begins = Promise.withResolvers<undefined>();
    const { synthesize, seen } = engine(bytes);
    const late = async (signal: AbortSignal) => {
      await begins.promise;
      return synthesize(signal);
    };
    const speech = withTimeouts(late, { signal: caller.signal }, { ...limits, firstBytesMs: 60_000 });
    caller.abort(new Error('gone'));
    await expect(speech).rejects.toThrow('gone');
    begins.resolve(undefined);
    await expect.poll(() => seen.returned).toBe(true);
  });

  test('does not start after a disconnect', async () => {
    const { synthesize, seen } = engine(bytes);
    await expect(withTimeouts(synthesize, { signal: AbortSignal.abort(new Error('gone')) }, limits)).rejects.toThrow(
      'gone',
    );
    expect(seen.signal).toBeUndefined();
  });
});

/** How soon an abort ends everything at the provider and in tools. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../engines/contract/index.ts';
import type { Behavior } from '../../support/provider.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { calls, chunk, stallsAfter, startAgent, tool } from './support.ts';

const limitMs = 250;
const hi = chunk({ content: 'Hi' });

// An engine loads undici with its first request, which on a busy machine takes longer than the timeouts here.
beforeAll(() => import('undici'));

/** Stages at which the run is aborted, by what the provider has received. */
const stages: readonly { readonly name: string; readonly behavior: Behavior }[] = [
  { name: 'the provider thinks', behavior: ({ body }) => body },
  { name: 'the answer has begun', behavior: stallsAfter() },
  { name: 'the answer streams', behavior: stallsAfter(hi) },
];

describe.each(stages)('while $name', ({ behavior }) => {
  test('an abort ends the upstream call', async () => {
    const caller = new AbortController();
    const gone = new Error('gone');
    let goneAfterMs: Promise<number> | undefined;
    const { ask, provider } = await startAgent(async (call) => {
      await behavior(call);
      const sinceLeft = startStopwatch();
      goneAfterMs = call.gone.then(sinceLeft);
      caller.abort(gone);
    });
    await expect(ask({ signal: caller.signal })).rejects.toBe(gone);
    expect(await goneAfterMs).toBeLessThan(limitMs);
    expect(provider.calls).toHaveLength(1);
  });

  test('a reader that stops ends the upstream call', async () => {
    const { promise: reached, resolve } = Promise.withResolvers<unknown>();
    const { events, provider } = await startAgent(async (call) => {
      await behavior(call);
      resolve(undefined);
    });
    const iterator = events()[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = readOn(iterator);
    await reached;
    const sinceLeft = startStopwatch();
    await iterator.return?.();
    expect(await waiting).toBe('done');
    await provider.calls[0]!.gone;
    expect(sinceLeft()).toBeLessThan(limitMs);
  });
});

/** Reads until the end. */
async function readOn(iterator: AsyncIterator<AgentEvent>): Promise<'done'> {
  while (!(await iterator.next()).done);
  return 'done';
}

describe('while tools run', () => {
  test('an abort ends them, even those that ignore it', async () => {
    const caller = new AbortController();
    const gone = new Error('gone');
    const heeded = Promise.withResolvers<undefined>();
    const deaf = Promise.withResolvers<string>();
    const tools = [
      tool('heedful', (_args, { signal }) => {
        signal.addEventListener('abort', () => heeded.resolve(undefined));
        return new Promise(() => {});
      }),
      tool('deaf', () => deaf.promise),
    ];
    const { events, provider } = await startAgent(
      calls({ id: 'a', name: 'heedful', args: '{}' }, { id: 'b', name: 'deaf', args: '{}' }),
    );
    let sinceLeft = () => Infinity;
    const reading = async () => {
      for await (const event of events({ tools, signal: caller.signal })) {
        if (event.type !== 'tool-started' || event.call !== 1) continue;
        setImmediate(() => {
          sinceLeft = startStopwatch(); // and the next event is waited for
          caller.abort(gone);
        });
      }
    };
    await expect(reading()).rejects.toBe(gone);
    await heeded.promise;
    expect(sinceLeft()).toBeLessThan(limitMs);
    deaf.reject(new Error('too late')); // no one listens, and that is no crash
    expect(provider.calls).toHaveLength(1);
  });

  test('a reader that stops ends them', async () => {
    const heeded = Promise.withResolvers<unknown>();
    const slow = tool('slow', (_args, { signal }) => {
      signal.addEventListener('abort', () => heeded.resolve(signal.reason));
      return new Promise(() => {});
    });
    const { events } = await startAgent(calls({ name: 'slow', args: '{}' }));
    for await (const { type } of events({ tools: [slow] })) if (type === 'tool-started') break;
    expect(await heeded.promise).toMatchObject({ message: 'the reader has stopped' });
  });
});

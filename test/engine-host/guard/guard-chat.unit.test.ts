/** The guard around the chats of an engine. */
import { describe, expect, it } from 'vitest';
import type { ChatEngine, Usage } from '../../../engines/contract/index.ts';
import { guardComplete } from '../../../src/engine-host/guard/calls.ts';
import { SharedDeadline } from '../../../src/engine-host/guard/shared-deadline.ts';

const usage = (totalTokens: unknown) =>
  ({ promptTokens: 1, completionTokens: 1, totalTokens, reasoningTokens: 0 }) as Usage;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const guarded = (engine: Pick<ChatEngine, 'complete'>) =>
  guardComplete(engine as ChatEngine, {
    instance: 'fake',
    abortMs: 100,
    chatIdle: new SharedDeadline(60_000),
    log: silent,
  });

async function run(report: (onUsage: ((usage: Usage) => void) | undefined) => void, heard?: (usage: Usage) => void) {
  const engine = {
    async *complete(_call, { onUsage }) {
      yield await Promise.resolve({ type: 'step-started', step: 0 } as const);
      report(onUsage);
    },
  } satisfies Pick<ChatEngine, 'complete'>;
  const options = { signal: new AbortController().signal, tools: [], ...(heard && { onUsage: heard }) };
  for await (const _event of guarded(engine)({ messages: [], model: 'fake' }, options));
}

describe('the usage that an engine reports', () => {
  it('is passed on where its total is an amount', async () => {
    const totals: number[] = [];
    await run(
      (onUsage) => [12, -1, NaN, Infinity, '5', undefined, 20].forEach((total) => onUsage?.(usage(total))),
      ({ totalTokens }) => totals.push(totalTokens),
    );
    expect(totals).toEqual([12, 20]);
  });

  it('is not asked for where nobody wants it', async () => {
    let asked: unknown;
    await run((onUsage) => (asked = onUsage));
    expect(asked).toBeUndefined();
  });
});

describe('the events of an engine that ignores its signal', () => {
  const gone = new Error('gone');
  const never = () => new Promise<never>(() => {});
  const deaf = { complete: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) };

  function open() {
    const caller = new AbortController();
    const events = guarded(deaf)({ messages: [], model: 'fake' }, { signal: caller.signal, tools: [] });
    return { caller, iterator: events[Symbol.asyncIterator]() };
  }

  it('reject with the reason of an abort while the next one is awaited', async () => {
    const { caller, iterator } = open();
    const next = iterator.next();
    caller.abort(gone);
    await expect(next).rejects.toBe(gone);
  });

  it('reject with the reason of an abort between two of them', async () => {
    const { caller, iterator } = open();
    caller.abort(gone);
    await expect(iterator.next()).rejects.toBe(gone);
  });
});

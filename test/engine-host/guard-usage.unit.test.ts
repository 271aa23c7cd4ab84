/** What an engine reports of its usage while a chat runs, guarded. */
import { expect, it } from 'vitest';
import type { ChatEngine, Usage } from '../../engines/contract/index.ts';
import { guardComplete } from '../../src/engine-host/guard/calls.ts';
import { SharedDeadline } from '../../src/engine-host/guard/shared-deadline.ts';

const usage = (totalTokens: unknown) =>
  ({ promptTokens: 1, completionTokens: 1, totalTokens, reasoningTokens: 0 }) as Usage;

async function run(report: (onUsage: ((usage: Usage) => void) | undefined) => void, heard?: (usage: Usage) => void) {
  const engine = {
    async *complete(_call, { onUsage }) {
      yield await Promise.resolve({ type: 'step-started', step: 0 } as const);
      report(onUsage);
    },
  } satisfies Pick<ChatEngine, 'complete'>;
  const complete = guardComplete(engine as unknown as ChatEngine, {
    instance: 'fake',
    abortMs: 100,
    chatIdle: new SharedDeadline(60_000),
  });
  const options = { signal: new AbortController().signal, tools: [], ...(heard && { onUsage: heard }) };
  for await (const _event of complete({ messages: [], model: 'fake' }, options));
}

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

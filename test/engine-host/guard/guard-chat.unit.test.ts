/** The guard around the chats of an engine. */
import { describe, expect, it } from 'vitest';
import type { AgentEvent, ChatCall, ChatEngine, ChatResult, Usage } from '../../../engines/contract/index.ts';
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

async function run(report: (onUsage: ((usage: Usage) => void) | undefined) => void, onUsage?: (usage: Usage) => void) {
  const engine = {
    async *complete(_call, { onUsage }) {
      yield await Promise.resolve({ type: 'step-started', step: 0 } as const);
      report(onUsage);
    },
  } satisfies Pick<ChatEngine, 'complete'>;
  const options = { signal: new AbortController().signal, tools: [], ...(onUsage && { onUsage }) };
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

  it('is not asked for where no one wants it', async () => {
    let asked: unknown;
    await run((onUsage) => (asked = onUsage));
    expect(asked).toBeUndefined();
  });
});

describe('the events of an engine', () => {
  const started: AgentEvent = { type: 'step-started', step: 0 };
  const completed = (facts: Partial<ChatResult>): AgentEvent => ({
    type: 'completed',
    result: { content: 'Hi', finishReason: 'stop', reasoning: null, usage: null, ...facts },
  });

  async function eventsOf(events: readonly AgentEvent[], call: Partial<ChatCall> = {}): Promise<AgentEvent[]> {
    const engine = { complete: () => ReadableStream.from(events) };
    const options = { signal: new AbortController().signal, tools: [] };
    const passed: AgentEvent[] = [];
    const run = guarded(engine)({ messages: [], model: 'fake', ...call }, options);
    for await (const event of run) passed.push(event);
    return passed;
  }

  it('may have tool calls only if the caller has tools', async () => {
    const toolCalls = [{ id: 'a', name: 'weather', arguments: '{}' }];
    const events = [started, completed({ content: '', finishReason: 'tool_calls', toolCalls })];
    expect(await eventsOf(events, { tools: [{ name: 'weather', parameters: {} }] })).toEqual(events);
    await expect(eventsOf(events)).rejects.toMatchObject({ code: 'engine-failed' });
  });

  it('may retract the content of the step so far', async () => {
    const begun: AgentEvent[] = [
      started,
      { type: 'content-delta', step: 0, delta: 'Hm.' },
      { type: 'content-retracted', step: 0 },
      { type: 'reasoning-delta', step: 0, delta: 'Hm.' },
      { type: 'content-delta', step: 0, delta: 'Hi' },
    ];
    const whole = [...begun, completed({ reasoning: 'Hm.' })];
    expect(await eventsOf(whole)).toEqual(whole);
    const wrong = [...begun, completed({ reasoning: 'Hm.', content: 'Hm.Hi' })];
    await expect(eventsOf(wrong)).rejects.toMatchObject({ code: 'engine-failed' });
  });

  it('are without those that a tool emits after its end', async () => {
    const head = { step: 0, call: 0 } as const;
    const late: AgentEvent = { type: 'tool-event', ...head, event: { type: 'progress', progress: 1 } };
    const before: AgentEvent[] = [
      started,
      { type: 'tool-started', ...head, name: 'dig', arguments: {} },
      late,
      { type: 'tool-finished', ...head, name: 'dig', ok: true, output: '', durationMs: 1 },
    ];
    const after: AgentEvent[] = [{ type: 'content-delta', step: 0, delta: 'Hi' }, completed({})];
    expect(await eventsOf([...before, late, late, ...after])).toEqual([...before, ...after]);
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

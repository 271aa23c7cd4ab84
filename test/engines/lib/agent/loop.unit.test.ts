/** The agent loop: model, tools, model again, until an answer calls no tool. */
import { describe, expect, test } from 'vitest';
import { EngineError, type AgentEvent, type Tool, type Usage } from '../../../../engines/contract/index.ts';
import type { Delta } from '../../../../engines/lib/agent/delta.ts';
import { runLoop, type Round } from '../../../../engines/lib/agent/loop.ts';

const noCaller = new AbortController().signal;
const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15, reasoningTokens: 2 };
const callEcho = (id: string, args = '{"a":1}') => ({ id, name: 'echo', arguments: args });
const echo: Tool = {
  ...{ name: 'echo', description: 'Repeats.', parameters: {} },
  run: (args) => Promise.resolve(JSON.stringify(args)),
};

const says = (delta: string): Delta => ({ type: 'content-delta', delta });
const thinks = (delta: string): Delta => ({ type: 'reasoning-delta', delta });

interface Script extends Partial<Round> {
  readonly deltas?: readonly (readonly Delta[])[];
  readonly fails?: Error;
}

/** A model that answers by its script; the last round stays. */
function start(script: readonly Script[], { maxSteps = 5, signal = noCaller } = {}) {
  const reported: Usage[] = [];
  const onUsage = (total: Usage) => void reported.push(total);
  const asked: boolean[] = [];
  const appended: { round: Round; outputs: readonly string[] }[] = [];
  const conversation = {
    requestRound(isLast: boolean) {
      const { content = '', reasoning = '', fails, ...own } = script[Math.min(asked.length, script.length - 1)]!;
      const { deltas = [[thinks(reasoning), says(content)].filter(({ delta }) => delta !== '')] } = own;
      asked.push(isLast);
      async function* all() {
        yield* await Promise.resolve(deltas);
        if (fails) throw fails;
      }
      const { calls = [], finish = 'stop', usage } = own;
      return { deltas: all(), end: () => ({ calls, finish, usage }) };
    },
    append: (round: Round, outputs: readonly string[]) => void appended.push({ round, outputs }),
  };
  return { events: runLoop({ conversation, tools: [echo], maxSteps, onUsage }, signal), asked, appended, reported };
}

async function collect(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const resultOf = (events: readonly AgentEvent[]) => {
  const last = events.at(-1);
  if (last?.type !== 'completed') throw new Error('the run has not completed');
  return last.result;
};

test('an answer without calls is one step', async () => {
  const { events, asked } = start([{ content: 'Hi.', deltas: [[{ type: 'content-delta', delta: 'Hi.' }]], usage }]);
  expect(await collect(events)).toEqual([
    { type: 'step-started', step: 0 },
    { type: 'content-delta', step: 0, delta: 'Hi.' },
    { type: 'completed', result: { content: 'Hi.', finishReason: 'stop', reasoning: null, usage } },
  ]);
  expect(asked).toEqual([false]);
});

test('calls are run, appended with their outputs, and the model is asked again', async () => {
  const { events, appended } = start([{ content: 'Let me see.', calls: [callEcho('a')] }, { content: 'It is 1.' }]);
  const all = await collect(events);
  expect(all.map(({ type }) => type)).toEqual([
    ...['step-started', 'content-delta', 'tool-started', 'tool-finished'],
    ...['step-started', 'content-delta', 'completed'],
  ]);
  expect(appended).toMatchObject([{ round: { content: 'Let me see.', calls: [callEcho('a')] }, outputs: ['{"a":1}'] }]);
  expect(resultOf(all)).toMatchObject({ content: 'It is 1.', finishReason: 'stop' });
});

test('arguments that are no JSON are not appended: some providers reject a history with them', async () => {
  const { events, appended } = start([{ calls: [callEcho('a', '{"a":')] }, { content: 'Sorry.' }]);
  await collect(events);
  expect(appended[0]!.round.calls).toEqual([callEcho('a', '{}')]);
  expect(appended[0]!.outputs[0]).toMatch(/^Error: /);
});

test('deltas of one kind that came together are one event', async () => {
  const deltas: Delta[][] = [
    [
      { type: 'reasoning-delta', delta: 'H' },
      { type: 'reasoning-delta', delta: 'm.' },
      { type: 'content-delta', delta: 'H' },
      { type: 'content-delta', delta: 'i' },
    ],
    [{ type: 'content-delta', delta: '.' }],
  ];
  const all = await collect(start([{ deltas }]).events);
  expect(all.flatMap((event) => ('delta' in event ? [event.delta] : []))).toEqual(['Hm.', 'Hi', '.']);
});

describe('the last step', () => {
  test('is asked for without tools, and calls in it end the run with length', async () => {
    const { events, asked, appended } = start([{ content: 'Again.', calls: [callEcho('a')] }], { maxSteps: 3 });
    const all = await collect(events);
    expect(asked).toEqual([false, false, true]);
    expect(appended).toHaveLength(2);
    expect(resultOf(all)).toMatchObject({ content: 'Again.', finishReason: 'length' });
  });
});

test.each(['length', 'content_filter'] as const)('calls that %s has cut are not run', async (finish) => {
  const { events, appended } = start([{ content: 'Let', calls: [callEcho('a')], finish }]);
  expect(resultOf(await collect(events))).toMatchObject({ content: 'Let', finishReason: finish });
  expect(appended).toEqual([]);
});

test('usage is summed and reasoning joined over all rounds', async () => {
  const { events } = start([
    { reasoning: 'First.', calls: [callEcho('a')], usage },
    { reasoning: '', calls: [callEcho('b')] },
    { reasoning: 'Then.', content: 'Done.', usage },
  ]);
  expect(resultOf(await collect(events))).toEqual({
    ...{ content: 'Done.', finishReason: 'stop', reasoning: 'First.\n\nThen.' },
    usage: { promptTokens: 20, completionTokens: 10, totalTokens: 30, reasoningTokens: 4 },
  });
});

test('the usage so far is reported after each round that has any, also of a run that fails', async () => {
  const fails = new EngineError('provider-error', 'The provider failed.');
  const { events, reported } = start([
    { calls: [callEcho('a')], usage },
    { calls: [callEcho('b')] },
    { calls: [callEcho('c')], usage },
    { fails, usage },
  ]);
  await expect(collect(events)).rejects.toBe(fails);
  expect(reported.map(({ totalTokens }) => totalTokens)).toEqual([15, 30]);
});

test('a failure of the model ends the run with it', async () => {
  const fails = new EngineError('provider-error', 'The provider failed.');
  await expect(collect(start([{ fails }]).events)).rejects.toBe(fails);
});

test('an abort during an answer ends the run with its reason', async () => {
  const caller = new AbortController();
  const reason = new Error('the caller has left');
  const deltas: Delta[][] = [[{ type: 'content-delta', delta: 'Hi.' }]];
  const { events } = start([{ deltas }], { signal: caller.signal });
  const seen: string[] = [];
  const reading = async () => {
    for await (const { type } of events) {
      seen.push(type);
      if (type === 'content-delta') caller.abort(reason);
    }
  };
  await expect(reading()).rejects.toBe(reason);
  expect(seen).toEqual(['step-started', 'content-delta']);
});

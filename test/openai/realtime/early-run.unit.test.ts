/** An answer that begins before its turn ends, with a model, a voice, tools and limits: what it does, costs and shows. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEvent, ChatOptions, Tool } from '../../../engines/contract/index.ts';
import { raceAbort } from '../../../lib/abort.ts';
import { createBudgets } from '../../../src/limits/budgets.ts';
import { createConcurrencySlots } from '../../../src/limits/concurrency.ts';
import { createLimits, limitsOfTurns } from '../../../src/limits/limits.ts';
import { createMinuteCounter } from '../../../src/limits/minutes.ts';
import { openConversation } from '../../../src/openai/realtime/conversation-config.ts';
import { runInScope, type KeyLimits } from '../../../src/request-scope.ts';
import { createSpeechModelSelector } from '../../../src/speech/speech-models.ts';
import type { WireEvent } from '../../support/realtime-laws.ts';
import { checkSessions, openSession, servicesWith } from './support.ts';

checkSessions();

/** The clock stands, so that only the test decides how long the models take. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Tokens of an answer. */
const tokens = 10;

interface Stage {
  readonly limits?: KeyLimits;
  /** Whether the model calls the tool of the service before it answers. */
  readonly callsTool?: boolean;
  /** Milliseconds until the model begins to write. */
  readonly writesAfterMs?: number;
}

/** A conversation whose first turn has been answered, in its second one. */
async function talk({ limits = {}, callsTool = false, writesAfterMs = 0 }: Stage = {}) {
  const signals: AbortSignal[] = [];
  const spoken: string[] = [];
  const gates: PromiseWithResolvers<undefined>[] = [];
  let toolCalls = 0;
  /** Says one sentence, and the other one once its gate is open. */
  async function* complete(_call: object, { signal, tools, onUsage }: ChatOptions): AsyncGenerator<AgentEvent> {
    const gate = Promise.withResolvers<undefined>();
    if (signals.length === 0) gate.resolve(undefined);
    gates.push(gate);
    signals.push(signal);
    vi.advanceTimersByTime(writesAfterMs);
    yield { type: 'step-started', step: 0 };
    onUsage?.({ promptTokens: tokens, completionTokens: 0, totalTokens: tokens, reasoningTokens: 0 });
    yield { type: 'content-delta', step: 0, delta: 'This is a sentence. And' };
    if (callsTool) {
      yield { type: 'tool-started', step: 0, call: 0, name: 'look', arguments: {} };
      const output = await tools[0]!.run({}, { signal, emit: () => undefined });
      yield { type: 'tool-finished', step: 0, call: 0, name: 'look', ok: true, output, durationMs: 0 };
      yield { type: 'step-started', step: 1 };
    }
    await raceAbort(gate.promise, signal);
    yield { type: 'content-delta', step: Number(callsTool), delta: ' another one.' };
    const content = 'This is a sentence. And another one.';
    yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
  }
  function synthesize({ text }: { readonly text: string }) {
    spoken.push(text);
    const audio = (async function* () {
      yield await Promise.resolve(new Uint8Array(4_800).fill(1));
    })();
    return Promise.resolve({ mediaType: 'audio/pcm', audio });
  }
  const run = () => {
    toolCalls += 1;
    return Promise.resolve('found');
  };
  const look: Tool = { name: 'look', description: '', parameters: {}, run };
  const budgets = createBudgets();
  const refused: string[] = [];
  const onRefused = (_key: string, policy: string) => void refused.push(policy);
  const counters = { minutes: createMinuteCounter(), concurrency: createConcurrencySlots(), budgets, onRefused };
  const models = servicesWith(undefined, { speech: [{ id: 'voice' }], engine: { complete, synthesize } });
  const encode = () => {
    throw new Error('nothing is encoded');
  };
  const services = {
    ...models,
    ...limitsOfTurns(createLimits(counters)),
    compatTools: true,
    tools: { toolsFor: () => Promise.resolve([look]), [Symbol.asyncDispose]: () => Promise.resolve() },
    speakers: createSpeechModelSelector({ registry: models.registry, defaultVoice: undefined, encode }),
  };
  const yes = () => true;
  const key = { name: 'app', weight: 1, limits, mayCall: yes, mayUseModel: yes, mayUseTool: yes };
  const session = runInScope({ caller: 'app', key }, () =>
    openSession({ services }, openConversation(services, undefined)),
  );
  await session.exchange();
  const tell = (turn: string, progress: object) => session.speech.emit({ turn, ...progress } as never);
  const talking = {
    ...session,
    ...{ signals, spoken, refused, tell },
    toolCalls: () => toolCalls,
    used: () => budgets.used('app').tokens,
    early: (turn: string, transcript = 'Hello.') => tell(turn, { type: 'early', transcript }),
    /** The turn ends; the model may go on. Returns the events since. */
    async end(turn: string, transcript = 'Hello.') {
      tell(turn, { type: 'stopped', ms: 0 });
      tell(turn, { type: 'committed' });
      tell(turn, { type: 'completed', transcript, seconds: 1 });
      const events = await settle();
      for (const gate of gates) gate.resolve(undefined);
      return [...events, ...(await settle())];
    },
  };
  const settle = async () => {
    const events: WireEvent[] = [];
    for (let times = 0; times < 3; times += 1) events.push(...(await session.exchange()));
    return events;
  };
  tell('one', { type: 'started', ms: 0 });
  talking.early('one');
  await session.exchange();
  expect(signals).toHaveLength(0); // it is not known yet whether the models are quick
  expect(resultOf(await talking.end('one'))).toMatchObject({ status: 'completed' });
  spoken.length = 0;
  tell('two', { type: 'started', ms: 0 });
  await session.exchange();
  return talking;
}

const typesOf = (events: readonly WireEvent[]) => events.map(({ type }) => type);

const resultOf = (events: readonly WireEvent[]) => {
  const { status, status_details: details } = events.findLast(({ type }) => type === 'response.done')!.response!;
  return { status, code: (details as { error?: { code: string } } | null)?.error?.code };
};

describe('an answer that has begun early', () => {
  it('is sent once its turn is committed: one call of the model, and its first piece is there', async () => {
    const { early, exchange, end, signals, spoken } = await talk();
    early('two');
    expect(await exchange()).toEqual([]);
    expect([signals.length, spoken]).toEqual([2, ['This is a sentence.']]);
    const events = await end('two');
    expect(resultOf(events)).toEqual({ status: 'completed' });
    expect(signals).toHaveLength(2);
    expect(spoken).toHaveLength(2);
  });

  it('is ended and never sent if the user continues to speak', async () => {
    const { early, exchange, end, tell, signals, logged, counted } = await talk();
    early('two');
    await exchange();
    tell('two', { type: 'resumed' });
    expect(await exchange()).toEqual([]);
    expect(signals[1]!.aborted).toBe(true);
    expect([logged, counted.responses]).toEqual([[], 1]);
    expect(resultOf(await end('two', 'Hello you.'))).toEqual({ status: 'completed' });
    expect(counted.responses).toBe(2);
    expect(signals).toHaveLength(3);
  });

  it('gives way to the response that the client asks for', async () => {
    const { early, exchange, signals } = await talk();
    early('two');
    await exchange();
    const events = await exchange({ type: 'response.create' });
    expect(typesOf(events)[0]).toBe('response.created');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, false]);
  });

  it('calls no tool until its turn is committed: never in 100 pauses, and once then', async () => {
    const { early, exchange, end, tell, signals, toolCalls } = await talk({ callsTool: true });
    expect(toolCalls()).toBe(1);
    for (let count = 1; count <= 100; count += 1) {
      early('two');
      await exchange();
      expect(signals).toHaveLength(1 + count);
      tell('two', { type: 'resumed' });
      await exchange();
    }
    expect(signals.slice(1).every(({ aborted }) => aborted)).toBe(true);
    expect(toolCalls()).toBe(1);
    early('two');
    expect(await exchange()).toEqual([]);
    expect(toolCalls()).toBe(1);
    expect(resultOf(await end('two'))).toEqual({ status: 'completed' });
    expect([signals.length, toolCalls()]).toEqual([102, 2]);
  });

  it('ends with its session', async () => {
    const { early, exchange, signals, socket, ended } = await talk();
    early('two');
    await exchange();
    socket.leave();
    await ended;
    expect(signals[1]!.aborted).toBe(true);
  });

  it('is still given while the service stops, and does not keep it if the turn is cleared', async () => {
    for (const isCleared of [true, false]) {
      const { early, exchange, end, tell, signals, socket, draining, ended } = await talk();
      early('two');
      await exchange();
      draining.abort();
      await exchange();
      expect(socket.closed).toBeUndefined();
      if (isCleared) tell('two', { type: 'forgotten' });
      else expect(resultOf(await end('two'))).toEqual({ status: 'completed' });
      await ended;
      expect([socket.closed?.code, signals[1]!.aborted]).toEqual([1012, isCleared]);
    }
  });
});

it.each([
  [1_500, 2],
  [1_501, 1],
])('a model that has begun to write %i ms after the last turn is called early or not', async (writesAfterMs, calls) => {
  const { early, exchange, signals } = await talk({ writesAfterMs });
  early('two');
  await exchange();
  expect(signals).toHaveLength(calls);
});

describe('the limits of a key', () => {
  it('count it when its turn is committed, and charge what was in vain', async () => {
    const { early, exchange, end, tell, used } = await talk({
      limits: { requestsPerMinute: 5, tokensPerDay: 1_000 },
    });
    expect(used()).toBe(tokens);
    for (let count = 0; count < 4; count += 1) {
      early('two');
      await exchange();
      tell('two', { type: 'resumed' });
      await exchange();
    }
    expect(used()).toBe(5 * tokens);
    early('two');
    await exchange();
    expect(resultOf(await end('two'))).toEqual({ status: 'completed' }); // two turns and two answers so far
    expect(used()).toBe(6 * tokens);
  });

  it('refuse it when its turn is committed, and its work ends', async () => {
    const { early, exchange, end, signals, used } = await talk({
      limits: { requestsPerMinute: 1, tokensPerDay: 1_000 },
    });
    early('two');
    await exchange();
    expect(signals).toHaveLength(2);
    expect(resultOf(await end('two'))).toEqual({ status: 'failed', code: 'rate_limit_exceeded' });
    expect([signals[1]!.aborted, used()]).toEqual([true, 2 * tokens]);
  });

  it('let none begin once the budget is used up, and count only the answer as rejected', async () => {
    const { early, exchange, end, signals, refused } = await talk({ limits: { tokensPerDay: tokens } });
    early('two');
    await exchange();
    expect(resultOf(await end('two'))).toEqual({ status: 'failed', code: 'insufficient_quota' });
    expect(signals).toHaveLength(1);
    expect(refused).toEqual(['tokens']);
  });
});

/** The handlers of chat over an engine and a toolbox of the test's own: what both are handed, and when they are told. */
import { describe, expect, it } from 'vitest';
import { EngineError, type AgentEvent, type ChatCall, type Logger, type Tool } from '../../engines/contract/index.ts';
import type { Registry } from '../../src/engine-host/registry/registry.ts';
import { createChat, startChat, streamChat } from '../../src/handlers/chat.ts';
import type { Schemas } from '../../src/contract/operations.ts';
import { ProblemError } from '../../src/contract/problems.ts';
import type { Services } from '../../src/handlers/dependencies.ts';
import type { ChatFacts } from '../../src/tools/toolbox.ts';

const told: AgentEvent[] = [
  { type: 'step-started', step: 0 },
  { type: 'content-delta', step: 0, delta: 'Hi' },
  { type: 'completed', result: { content: 'Hi', finishReason: 'stop', reasoning: null, usage: null } },
];

interface Stage {
  readonly events?: (signal: AbortSignal) => AsyncIterable<AgentEvent>;
  readonly toolsFor?: (chat: ChatFacts) => Promise<readonly Tool[]>;
  readonly streamHoldMs?: number;
}

/** Everything that the handlers meet, and what it has seen. */
function stage({
  events = () => listed(told),
  toolsFor = () => Promise.resolve([]),
  streamHoldMs = 1_000,
}: Stage = {}) {
  const seen: { call?: ChatCall; tools?: readonly Tool[]; chat?: ChatFacts; signal?: AbortSignal } = {};
  const logged: string[] = [];
  const write = (_facts: object, message: string) => void logged.push(message);
  const log: Logger = { debug: write, info: write, warn: write, error: write };
  const model = {
    id: 'served',
    engineId: 'inner',
    entry: { id: 'inner', local: true },
    instance: 'fake',
    availability: { available: true, code: 'ready', reason: 'Ready.' },
    engine: {
      complete(call: ChatCall, { signal, tools }: { signal: AbortSignal; tools: readonly Tool[] }) {
        Object.assign(seen, { call, tools, signal });
        return events(signal);
      },
    },
  };
  const used: Pick<Services, 'registry' | 'tools' | 'linkTo' | 'streamHoldMs'> = {
    registry: {
      of: () => ({ all: [model], find: () => model, default: model }),
    } as unknown as Registry,
    tools: {
      toolsFor: (chat) => {
        seen.chat = chat;
        return toolsFor(chat);
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    linkTo: (path) => path,
    streamHoldMs,
  };
  const services = used as Services;
  const caller = new AbortController();
  const request = (more: object = {}) => {
    const body = { messages: [{ role: 'user', content: 'Hello', name: 'Ada' }], ...more };
    const unread = { query: {}, path: {}, headers: {} };
    return { id: 'an-id', ...unread, body, signal: caller.signal, log } as never;
  };
  return {
    seen,
    logged,
    caller,
    run: () => startChat(request(), services, { isStream: false }),
    plain: (more?: object) => createChat(request(more), services),
    stream: async (more?: object) => {
      const { body } = await streamChat(request(more), services);
      return (body as AsyncIterable<Schemas['ChatEvent']>)[Symbol.asyncIterator]();
    },
  };
}

async function* listed(events: readonly AgentEvent[]): AsyncGenerator<AgentEvent> {
  for (const event of events) yield await Promise.resolve(event);
}

/** As the engine sees its reader: how many events it was asked for, and whether it was left. */
function iterated(next: (count: number) => Promise<IteratorResult<AgentEvent>>, leave = () => Promise.resolve()) {
  const state = { asked: 0, left: 0 };
  const events: AsyncIterable<AgentEvent> = {
    [Symbol.asyncIterator]: () => ({
      next: () => next(state.asked++),
      async return() {
        state.left++;
        await leave();
        return { done: true, value: undefined };
      },
    }),
  };
  return { state, events: () => events };
}

const never = () => new Promise<never>(() => {});
const gone = new Error('the caller has disconnected');

describe('the engine', () => {
  it('receives only the options of the request', async () => {
    const tool: Tool = { name: 'a', description: '', parameters: {}, run: () => Promise.resolve('') };
    const { plain, seen } = stage({ toolsFor: () => Promise.resolve([tool]) });
    await plain({ model: 'served', temperature: 0, max_tokens: 5, top_p: 1, voice_id: 'v', unknown: 1 });
    expect(seen.call).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
      model: 'inner',
      temperature: 0,
      maxTokens: 5,
      topP: 1,
    });
    expect(seen.tools).toEqual([tool]);
  });

  it('that never awaits between events does not block the event loop', async () => {
    let turns = 0;
    const turn = () => void (turns++, (timer = setImmediate(turn)));
    let timer = setImmediate(turn);
    const delta: AgentEvent = { type: 'content-delta', step: 0, delta: '' };
    const { plain } = stage({
      events: () => listed([told[0]!, ...Array<AgentEvent>(5_000).fill(delta), ...told.slice(1)]),
    });
    await plain();
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it.each([
    ['absent', {}],
    ['null', { model: null, temperature: null, max_tokens: null, top_p: null }],
  ])('receives no value for fields that are %s', async (_how, fields) => {
    const { plain, seen } = stage();
    await plain(fields);
    expect(Object.keys(seen.call ?? {})).toEqual(['messages', 'model']);
  });

  it('may emit arguments nested too deeply to serialize: they are omitted, and the run continues', async () => {
    const deep = JSON.parse('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)) as Record<string, unknown>;
    const head = { step: 0, call: 0, name: 'dig' } as const;
    const calling: AgentEvent[] = [
      { type: 'step-started', step: 0 },
      { type: 'tool-started', ...head, arguments: deep },
      { type: 'tool-finished', ...head, ok: true, output: 'done', durationMs: 1 },
      { type: 'completed', result: { content: '', finishReason: 'stop', reasoning: null, usage: null } },
    ];
    const { run } = stage({ events: () => listed(calling) });
    const shown: unknown[] = [];
    for await (const event of await run()) shown.push(JSON.parse(JSON.stringify(event)));
    expect(shown[2]).toEqual({ type: 'tool.started', seq: 2, step: 0, id: 'tool-0-0', name: 'dig', arguments: {} });
    expect(shown.at(-1)).toMatchObject({ type: 'chat.completed' });
  });

  it('is pulled only on demand', async () => {
    const { state, events } = iterated((count) => Promise.resolve({ done: false, value: told[count]! }));
    const { stream } = stage({ events });
    const reader = await stream();
    expect(state.asked).toBe(2); // its first sign of life was waited for
    for (const type of ['chat.started', 'step.started', 'content.delta']) {
      expect(await reader.next()).toMatchObject({ value: { type } });
    }
    expect(state.asked).toBe(2);
    expect(await reader.next()).toMatchObject({ value: { type: 'chat.completed' } });
    expect(await reader.next()).toMatchObject({ done: true });
    expect(state).toEqual({ asked: 3, left: 1 });
  });

  it('is returned and aborted when the client disconnects between reads', async () => {
    const { state, events } = iterated((count) => Promise.resolve({ done: false, value: told[count]! }));
    const { stream, seen, caller } = stage({ events });
    await stream();
    caller.abort(gone);
    expect(seen.signal?.reason).toBe(gone);
    expect(state.left).toBe(1);
  });

  it('is not called when the client has disconnected', async () => {
    const { run, seen, caller } = stage();
    const events = await run();
    expect(await events.next()).toMatchObject({ value: { type: 'chat.started', seq: 0, id: 'an-id' } });
    caller.abort(gone);
    await expect(events.next()).rejects.toBe(gone);
    expect(seen.call).toBeUndefined();
  });

  it('may be pending when the client disconnects before the first read: no unhandled rejection', async () => {
    const { events } = iterated(never);
    const { stream, seen, caller } = stage({ events, streamHoldMs: 1 });
    await stream();
    caller.abort(gone);
    expect(seen.signal?.reason).toBe(gone);
    await new Promise(setImmediate); // an unhandled rejection would fail the run of the tests
  });

  it('is returned when its reader returns', async () => {
    const { state, events } = iterated((count) => Promise.resolve({ done: false, value: told[count]! }));
    const { stream, seen } = stage({ events });
    const reader = await stream();
    await reader.next();
    await reader.return?.();
    expect(seen.signal?.aborted).toBe(true);
    expect(state.left).toBe(1);
  });

  it('may fail on return: the response stands, and the error is logged', async () => {
    const { events } = iterated(
      (count) => Promise.resolve({ done: false, value: told[count]! }),
      () => Promise.reject(new Error('too late')),
    );
    const { plain, logged } = stage({ events });
    expect(await plain()).toMatchObject({ body: { content: 'Hi', model: 'served' } });
    await expect.poll(() => logged).toEqual(['an engine failed to stop']);
  });

  it('may throw before its first event', async () => {
    const failure = new EngineError('overloaded', 'Later.');
    const { plain, stream } = stage({
      events: () => {
        throw failure;
      },
    });
    await expect(plain()).rejects.toBe(failure);
    await expect(stream()).rejects.toBe(failure);
  });
});

describe('the toolbox', () => {
  it('receives the requested voice and speech model', async () => {
    const { plain, seen } = stage();
    await plain({ voice_id: 'v', tts_model: 'm' });
    expect(seen.chat).toMatchObject({ voice_id: 'v', tts_model: 'm' });
    await plain();
    expect(seen.chat).toMatchObject({ voice_id: null, tts_model: null });
  });

  it('may reject them before the engine is called', async () => {
    const refusal = new ProblemError('unknown-model', 'No such voice.');
    const { plain, stream, seen } = stage({ toolsFor: () => Promise.reject(refusal) });
    await expect(plain()).rejects.toBe(refusal);
    await expect(stream()).rejects.toBe(refusal);
    expect(seen.call).toBeUndefined();
    expect(seen.chat?.signal.reason).toBe(refusal);
  });

  it('is not awaited after a disconnect', async () => {
    const { plain, seen, caller } = stage({ toolsFor: never });
    const answer = plain();
    await expect.poll(() => seen.chat).toBeDefined();
    caller.abort(gone);
    await expect(answer).rejects.toBe(gone);
    expect(seen.chat?.signal.reason).toBe(gone);
  });

  it('sees an abort when the run fails', async () => {
    const failure = new EngineError('provider-error', 'It failed.');
    const { plain, seen } = stage({
      events: async function* () {
        yield* listed(told.slice(0, 2));
        throw failure;
      },
    });
    await expect(plain()).rejects.toBe(failure);
    expect(seen.chat?.signal.reason).toBe(failure);
  });

  it('sees no abort after the run has completed, even on a disconnect', async () => {
    const { plain, stream, seen, caller } = stage();
    await plain();
    const chats = [seen.chat];
    const reader = await stream();
    while (!(await reader.next()).done);
    caller.abort(gone);
    chats.push(seen.chat);
    expect(chats.map((chat) => chat?.signal.aborted)).toEqual([false, false]);
  });

  it('sees no abort when the reader of the result fails', async () => {
    const { run, seen } = stage();
    const events = await run();
    for (let type = ''; type !== 'chat.completed';) type = (await events.next()).value?.type ?? 'chat.completed';
    await expect(events.throw(gone)).rejects.toBe(gone);
    expect(seen.chat?.signal.aborted).toBe(false);
  });

  it('sees no abort when the client disconnects before reading the result', async () => {
    const { stream, seen, caller } = stage();
    const reader = await stream();
    for (let count = 0; count < 4; count++) await reader.next();
    caller.abort(gone);
    await reader.return?.();
    expect(seen.chat?.signal.aborted).toBe(false);
  });
});

it('a run does not start after a disconnect', async () => {
  const { plain, stream, seen, caller } = stage({ toolsFor: never });
  caller.abort(gone);
  await expect(plain()).rejects.toBe(gone);
  await expect(stream()).rejects.toBe(gone);
  expect(seen.call).toBeUndefined();
});

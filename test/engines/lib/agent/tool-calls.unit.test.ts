/** Tool calls of one round: all run at once, and the model reads an output for each. */
import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent, Tool } from '../../../../engines/contract/index.ts';
import { runToolCalls, toToolCall } from '../../../../engines/lib/agent/tool-calls.ts';

const noCaller = new AbortController().signal;
const call = (name: string, args = '{}') => toToolCall({ id: `id-${name}`, name, arguments: args });
const tool = (name: string, run: Tool['run']): Tool => ({ name, description: name, parameters: {}, run });
const echo = tool('echo', (args) => Promise.resolve(JSON.stringify(args)));

/** The events, and what the model reads in the end. */
async function run(calls: readonly ReturnType<typeof call>[], tools: readonly Tool[], signal = noCaller) {
  const events: AgentEvent[] = [];
  const running = runToolCalls(calls, { step: 3, tools, signal });
  for (;;) {
    const { done, value } = await running.next();
    if (done === true) return { events, outputs: value };
    events.push(value);
  }
}

describe('the arguments of a call', () => {
  test.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    [' \n', {}],
  ])('%j are an object', (text, args) => {
    const made = call('echo', text);
    expect(made.args).toEqual(args);
    expect(made.request.arguments).toBe(text);
  });

  test.each(['[1]', 'null', '"a"', '{"a":', 'a'])('%j are not, and are not repeated to the provider', (text) => {
    const made = call('echo', text);
    expect(made.args).toBeUndefined();
    expect(made.request).toEqual({ id: 'id-echo', name: 'echo', arguments: '{}' });
  });
});

describe('a call', () => {
  test('starts, emits and finishes', async () => {
    const progress = { type: 'progress', progress: 1 } as const;
    const speaking = tool('speak', async (_args, { emit }) => {
      emit(progress);
      return Promise.resolve('done');
    });
    const { events, outputs } = await run([call('speak', '{"text":"Hi"}')], [echo, speaking]);
    const head = { step: 3, call: 0 };
    expect(events).toEqual([
      { type: 'tool-started', ...head, name: 'speak', arguments: { text: 'Hi' } },
      { type: 'tool-event', ...head, event: progress },
      {
        type: 'tool-finished',
        ...head,
        name: 'speak',
        ok: true,
        output: 'done',
        durationMs: expect.any(Number) as number,
      },
    ]);
    expect(outputs).toEqual(['done']);
  });

  test.each<[string, Tool['run'], string]>([
    ['rejects', () => Promise.reject(new Error('no such city')), 'no such city'],
    [
      'throws',
      () => {
        throw new Error('no such city');
      },
      'no such city',
    ],
  ])('whose tool %s passes the error to the model', async (_how, fail, error) => {
    const { events, outputs } = await run([call('fail')], [tool('fail', fail)]);
    expect(events.at(-1)).toMatchObject({ type: 'tool-finished', ok: false, error });
    expect(outputs).toEqual([`Error: ${error}`]);
  });

  test('of an unknown tool lists the known ones', async () => {
    expect((await run([call('other')], [echo])).outputs).toEqual([
      'Error: Unknown tool "other"; available tools: echo.',
    ]);
    expect((await run([call('other')], [])).outputs).toEqual(['Error: Unknown tool "other"; available tools: none.']);
  });

  test('without a JSON object does not run its tool', async () => {
    const never = vi.fn<Tool['run']>();
    const { outputs } = await run([call('never', '[1]')], [tool('never', never)]);
    expect(outputs[0]).toMatch(/^Error: The arguments are not a JSON object/);
    expect(never).not.toHaveBeenCalled();
  });

  test('that has finished emits nothing more', async () => {
    let late = () => {};
    const early = tool('early', (_args, { emit }) => {
      late = () => emit({ type: 'progress', progress: 1 });
      return Promise.resolve('done');
    });
    const waiting = tool('waiting', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      late();
      return 'done';
    });
    const { events } = await run([call('early'), call('waiting')], [early, waiting]);
    expect(events.filter(({ type }) => type === 'tool-event')).toEqual([]);
  });
});

test('calls run at once, and their outputs keep the order of the calls', async () => {
  const gate = Promise.withResolvers<string>();
  const first = tool('first', () => gate.promise);
  const second = tool('second', () => {
    gate.resolve('one'); // the first one could not finish if the second waited for it
    return Promise.resolve('two');
  });
  const { events, outputs } = await run([call('first'), call('second')], [first, second]);
  expect(outputs).toEqual(['one', 'two']);
  expect(events.slice(0, 2)).toMatchObject([
    { type: 'tool-started', call: 0 },
    { type: 'tool-started', call: 1 },
  ]);
});

test('progress that a slow reader does not take is dropped, everything else is kept', async () => {
  const noisy = tool('noisy', (_args, { emit }) => {
    for (let progress = 0; progress < 1_000; progress += 1) emit({ type: 'progress', progress });
    emit({ type: 'audio', clip: { id: 'a', mediaType: 'audio/mpeg' } });
    return Promise.resolve('done');
  });
  const { events } = await run([call('noisy')], [noisy]);
  const told = events.flatMap((event) => (event.type === 'tool-event' ? [event.event.type] : []));
  expect(told.filter((type) => type === 'progress').length).toBeLessThanOrEqual(256);
  expect(told.at(-1)).toBe('audio');
  expect(events.at(-1)).toMatchObject({ type: 'tool-finished' });
});

test('an abort rejects at once with its reason, even if a tool ignores it', async () => {
  const caller = new AbortController();
  const reason = new Error('the caller has left');
  const deaf = tool('deaf', () => new Promise(() => {}));
  const running = runToolCalls([call('deaf')], { step: 0, tools: [deaf], signal: caller.signal });
  expect((await running.next()).value).toMatchObject({ type: 'tool-started' });
  const next = expect(running.next()).rejects.toBe(reason);
  caller.abort(reason);
  await next;
});

/** Timeouts and idle timeouts: afterwards nothing stays in flight at the provider. */
import { beforeAll, describe, expect, test } from 'vitest';
import { stalls, type Behavior } from '../../support/provider.ts';
import { calls, chunk, framed, says, stallsAfter, startAgent, streamHead, tool } from './support.ts';

const hi = chunk({ content: 'Hi' });

// An engine loads undici with its first request, which on a busy machine takes longer than the timeouts here.
beforeAll(() => import('undici'));

describe('the timeout', () => {
  test('ends a call without a response', async () => {
    const { ask, provider } = await startAgent(stalls, { timeout: 1.5 });
    await expect(ask()).rejects.toMatchObject({
      code: 'provider-timeout',
      message: expect.stringContaining('1.5 s') as string,
    });
    await expect.poll(() => provider.open.size).toBe(0);
    expect(provider.calls).toHaveLength(1);
  });

  test('ends a response that never ends', async () => {
    const { ask, provider } = await startAgent(dripping(10), { timeout: 1, idleTimeout: 0.9 });
    await expect(ask()).rejects.toMatchObject({
      code: 'provider-timeout',
      message: expect.stringContaining('within 1 s') as string,
    });
    await expect.poll(() => provider.open.size).toBe(0);
  });

  test('by idleness ends a response that stalls', async () => {
    const { ask, provider } = await startAgent(stallsAfter(hi), { idleTimeout: 0.2 });
    await expect(ask()).rejects.toMatchObject({
      code: 'provider-timeout',
      message: expect.stringContaining('Idle timeout') as string,
    });
    await expect.poll(() => provider.open.size).toBe(0);
  });

  test('by idleness ends a response that stalls after its headers', async () => {
    const { ask } = await startAgent(stallsAfter(), { idleTimeout: 0.2 });
    await expect(ask()).rejects.toMatchObject({ code: 'provider-timeout' });
  });

  test('by idleness does not count backpressure', async () => {
    const { events } = await startAgent(says('Hi'), { idleTimeout: 0.4 });
    const seen: string[] = [];
    for await (const { type } of events()) {
      seen.push(type);
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    expect(seen).toEqual(['step-started', 'content-delta', 'completed']);
  });

  test('by idleness is not reset by SSE comments after finish_reason', async () => {
    const chatty: Behavior = async ({ body, socket }) => {
      await body;
      const text = `data: ${JSON.stringify(chunk({ content: 'Hi' }, 'stop'))}\n\n`;
      socket.write(Buffer.concat([Buffer.from(streamHead), framed(text)]));
      const chatting = setInterval(() => socket.write(framed(': still here\n\n')), 50);
      socket.once('close', () => clearInterval(chatting));
    };
    const { ask, provider } = await startAgent(chatty, { idleTimeout: 0.3 });
    expect(await ask()).toMatchObject({ content: 'Hi', finishReason: 'stop' });
    await expect.poll(() => provider.open.size).toBe(0);
  });

  test('does not wait for a connection that stays open after a complete response', async () => {
    const open: Behavior = async ({ body, socket }) => {
      await body;
      const text = `data: ${JSON.stringify(chunk({ content: 'Hi' }, 'stop'))}\n\ndata: [DONE]\n\n`;
      socket.write(Buffer.concat([Buffer.from(streamHead), framed(text)]));
    };
    const { ask, provider } = await startAgent(open);
    expect((await ask()).content).toBe('Hi');
    await expect.poll(() => provider.open.size).toBe(0);
  });
});

test('a response with a finish reason but without an end is not waited for', async () => {
  const { ask, provider } = await startAgent(stallsAfter(hi, chunk({}, 'stop')));
  expect(await ask()).toMatchObject({ content: 'Hi', finishReason: 'stop' });
  await expect.poll(() => provider.open.size).toBe(0);
});

/** A response that never ends, with one piece per interval. */
function dripping(ms: number): Behavior {
  return async ({ body, socket }) => {
    await body;
    socket.write(streamHead);
    const timer = setInterval(() => socket.write(framed(`data: ${JSON.stringify(hi)}\n\n`)), ms);
    socket.once('close', () => clearInterval(timer));
  };
}

test('work that a tool started may continue after the run has completed', async () => {
  let signal: AbortSignal | undefined;
  const starts = tool('starts', (_args, call) => {
    ({ signal } = call);
    return 'begun';
  });
  const { events } = await startAgent([calls({ name: 'starts', args: '{}' }), says('Done.')]);
  for await (const { type } of events({ tools: [starts] })) if (type === 'completed') break;
  expect(signal?.aborted).toBe(false);
});

test('an aborted signal prevents the call', async () => {
  const { ask, provider } = await startAgent(says('Hi.'));
  const gone = new Error('gone');
  await expect(ask({ signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
  expect(provider.calls).toHaveLength(0);
});

test('a run leaves no listener on the signal of its caller', async () => {
  const { ask, provider } = await startAgent([calls({ name: 'weather', args: '{}' }), says('Hi.')]);
  const caller = new AbortController();
  const listening = new Set<unknown>();
  const { signal } = caller;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => (listening.add(args[1]), add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listening.delete(args[1]), remove(...args));
  await ask({ signal });
  expect(provider.calls).toHaveLength(2);
  expect(listening.size).toBe(0);
});

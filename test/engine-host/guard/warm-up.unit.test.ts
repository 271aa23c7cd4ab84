/** An engine that fails to warm up fails nothing else. */
import { expect, it } from 'vitest';
import { EngineError, type ChatEngine } from '../../../engines/contract/index.ts';
import { guardWarmUp } from '../../../src/engine-host/guard/calls.ts';

type WarmUp = NonNullable<ChatEngine['warmUp']>;

function guard(warmUp: (...args: Parameters<WarmUp>) => unknown) {
  const session = new AbortController();
  const logged: string[] = [];
  const write = (level: string) => (_facts: object, text: string) => void logged.push(`${level}: ${text}`);
  const log = { debug: write('debug'), info: write('info'), error: write('error'), warn: write('warn') };
  const guarded = guardWarmUp<Parameters<WarmUp>>({ warmUp: warmUp as WarmUp }, { log });
  const call = { model: 'm', messages: [{ role: 'user', content: ' ' }] } as const;
  const warm = () => guarded(call, { signal: session.signal, tools: [] });
  return { warm, call, logged, session };
}

it('passes the conversation and the signal on', async () => {
  const seen: unknown[] = [];
  const { warm, call, logged, session } = guard((...args) => void seen.push(args));
  await warm();
  expect(seen).toEqual([[call, { signal: session.signal, tools: [] }]]);
  expect(logged).toEqual([]);
});

const throws = (error: Error) => () => {
  throw error;
};

it.each([
  ['a rejection', () => Promise.reject(new Error('no memory')), 'warn'],
  ['an exception', throws(new TypeError('broken')), 'warn'],
  ['what the next call reports', throws(new EngineError('model-unavailable', 'Broken.')), 'debug'],
])('logs %s, but warns of nothing after an abort', async (_what, fail, level) => {
  const { warm, logged, session } = guard(fail);
  await warm();
  session.abort(new Error('gone'));
  await warm();
  const text = 'the engine failed to warm up';
  expect(logged).toEqual([`${level}: ${text}`, `debug: ${text}`]);
});

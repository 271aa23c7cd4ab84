/** An engine that throws where no one can catch it: the process says so, answers what is in flight, and exits. */
import { describe, expect, test } from 'vitest';
import { openStream } from '../chat/support/stream.ts';
import { endsSoon, startChildService, type ChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import './support.ts';

/** A chat engine whose last message is code that it runs, in a timer. */
function careless({ dispose = '' } = {}) {
  const source = `
export default {
  contract: 1,
  name: 'careless',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: (options, { log }) => ({
    models: [{ id: 'careless', local: true }],
    async *complete({ messages }, { signal }) {
      yield { type: 'step-started', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'Hel' };
      log.info({}, 'the engine works');
      setTimeout(() => { eval(messages.at(-1).content); });
      await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    ${dispose}
  }),
};
`;
  return { config: 'engines: { careless: { use: ./careless.mjs } }\n', files: { 'careless.mjs': source } };
}

const chat = (code: string) => ({ messages: [{ role: 'user', content: code }] });
const fatal = (service: ChildService) => service.log().filter(({ level }) => level === 60);

describe.each([
  ['an exception in a timer', 'throw new TypeError("a defect")', 'uncaughtException'],
  ['a rejection that nothing handles', 'Promise.reject(new TypeError("a defect"))', 'unhandledRejection'],
  [
    'an error event without a listener',
    'new (process.getBuiltinModule("events").EventEmitter)().emit("error", new TypeError("a defect"))',
    'uncaughtException',
  ],
])('%s', (_what, defect, origin) => {
  test('is logged as fatal, answers what is in flight and exits with 1', async () => {
    const service = await startChildService(careless());
    using stream = await openStream(service.url, chat('0'));
    const waiting = createApi(service.url).post('/api/v1/chat', chat('0'));
    await expect
      .poll(() => service.log().filter(({ msg }) => msg === 'the engine works'), { timeout: 10_000 })
      .toHaveLength(2);
    using failing = await openStream(service.url, chat(defect));
    expect(await waiting).toMatchObject({ status: 503, problem: { code: 'shutting-down' } });
    for (const open of [stream, failing]) {
      expect((await open.all()).at(-1)).toMatchObject({ type: 'chat.failed', problem: { code: 'shutting-down' } });
    }
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(fatal(service)).toMatchObject([
      {
        origin,
        err: { type: 'TypeError', message: 'a defect', stack: expect.stringContaining('\n    at ') as unknown },
      },
    ]);
  });
});

test('further exceptions meanwhile change nothing', async () => {
  const service = await startChildService(careless());
  using stream = await openStream(service.url, chat('setInterval(() => { throw new Error("again") })'));
  expect((await stream.all()).at(-1)).toMatchObject({ type: 'chat.failed', problem: { code: 'shutting-down' } });
  expect(await service.exit).toEqual({ code: 1, signal: null });
});

test('an engine that never ends its disposal does not hold up the exit', async () => {
  const service = await startChildService(
    careless({ dispose: '[Symbol.asyncDispose]: () => new Promise(() => setInterval(() => {}, 1000)),' }),
  );
  using stream = await openStream(service.url, chat('throw new Error("a defect")'));
  expect(await endsSoon(service)).toEqual({ code: 1, signal: null });
  expect((await stream.all()).at(-1)).toMatchObject({ type: 'chat.failed' });
});

test('a defect during the graceful end hurries it', async () => {
  const service = await startChildService(careless());
  using stream = await openStream(service.url, chat('setTimeout(() => { throw new Error("a defect") }, 300)'));
  service.kill('SIGTERM');
  expect((await stream.all()).at(-1)).toMatchObject({ type: 'chat.failed', problem: { code: 'shutting-down' } });
  expect(await service.exit).toEqual({ code: 1, signal: null });
  expect(fatal(service)).toHaveLength(1);
});

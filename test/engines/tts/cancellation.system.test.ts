/** On disconnect and shutdown, no upstream call of a synthesis stays in flight; on disconnect through either door. */
import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError, type EngineContext, type Engines } from '../../../engines/contract/index.ts';
import tts from '../../../engines/tts/index.ts';
import { answers, startProvider, type Behavior, type RawProvider } from '../../support/provider.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { begins, mp3, pcm, speaks, startTts } from './support.ts';

const limitMs = 250;
const text = 'First comes one sentence that is long. Then a second one that is as long. And a third.';
const models = '[{ id: remote, maxCharacters: 50, formats: [pcm, mp3, opus] }]';

interface Asked {
  readonly text: string;
  readonly format?: string;
}

/** Stages at which the client disconnects, by what the provider has received. */
const stages: readonly {
  readonly name: string;
  readonly behavior: Behavior;
  readonly asked: Asked;
  readonly begun?: true;
}[] = [
  { name: 'the provider works', behavior: ({ body }) => body, asked: { text: 'Hi.' } },
  { name: 'the audio arrives', behavior: begins(mp3), asked: { text: 'Hi.' }, begun: true },
  {
    name: 'the audio arrives and is encoded',
    behavior: begins(pcm(1), 'audio/pcm'),
    asked: { text: 'Hi.', format: 'ogg' },
  },
  {
    name: 'the audio arrives and is buffered until its end',
    behavior: begins(pcm(1), 'audio/pcm'),
    asked: { text: 'Hi.', format: 'wav' },
  },
  { name: 'the audio arrives and is joined', behavior: begins(pcm(1), 'audio/pcm'), asked: { text, format: 'ogg' } },
  {
    name: 'the body of an error arrives',
    behavior: async ({ body, socket }) => {
      await body;
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 50\r\n\r\nhm');
    },
    asked: { text: 'Hi.' },
  },
];

/** The same request through both doors. */
const doors: readonly (readonly [name: string, path: string, toBody: (asked: Asked) => object])[] = [
  ['native', '/api/v1/tts', (asked) => asked],
  ['OpenAI', '/v1/audio/speech', ({ text: input, format }) => ({ input, response_format: format })],
];

describe.each(stages)('while $name', ({ behavior, asked, begun }) => {
  test.each(doors)('a disconnect aborts the upstream call: %s', async (_door, path, toBody) => {
    const caller = new AbortController();
    const { service, provider } = await startTts(behavior, { models });
    const response = fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(toBody(asked)),
      signal: caller.signal,
    });
    const left = expect(response.then((answer) => answer.arrayBuffer())).rejects.toThrow();
    if (begun) await response;
    const expected = asked.text === text ? 2 : 1;
    await expect.poll(() => provider.calls.length).toBe(expected);
    await Promise.all(provider.calls.map(({ body }) => body));
    const sinceLeft = startStopwatch();
    caller.abort();
    await Promise.all(provider.calls.map(({ gone }) => gone));
    expect(sinceLeft()).toBeLessThan(limitMs);
    await left;
    await expect.poll(() => service.leftovers()).toEqual([]);
    expect(service.log.filter(({ level }) => level >= 50)).toEqual([]);
    expect(provider.calls).toHaveLength(expected);
    // An abort does not affect the health of the provider.
    provider.behave(speaks(mp3));
    expect((await service.post('/tts', { text: 'Hi.' })).status).toBe(200);
  });

  test('shutdown aborts the upstream call', async () => {
    const { service, provider } = await startTts(behavior, { models });
    const response = service.post('/tts', asked);
    const spoken = response.then(async (answer) => answer.status === 503 || answer.arrayBuffer());
    spoken.catch(() => undefined); // it may break off before anybody waits for it
    if (begun) await response;
    await expect.poll(() => provider.calls.length).toBeGreaterThan(0);
    await Promise.all(provider.calls.map(({ body }) => body));
    const sinceEnd = startStopwatch();
    const stopped = service.service.stop(0);
    await Promise.all(provider.calls.map(({ gone }) => gone));
    expect(sinceEnd()).toBeLessThan(limitMs);
    // Rejected with 503, or aborted: never a response that looks complete.
    expect(await spoken.catch(() => true)).toBe(true);
    await stopped;
  });
});

describe('the engine itself', () => {
  async function open(behavior: Behavior): Promise<{ engine: Engines['speech']; provider: RawProvider }> {
    const provider = await startProvider();
    provider.behave(behavior);
    const context = {
      instance: 'voice',
      env: {},
      now: Date.now,
      log: console,
      formats: [],
      publish: () => undefined,
      providerHeaders: () => ({}),
    } as unknown as EngineContext;
    const models = [{ id: 'remote', maxCharacters: 50, formats: ['mp3' as const] }];
    const engine = await tts.create({ baseUrl: provider.baseUrl, models }, context);
    onTestFinished(() => engine[Symbol.asyncDispose]?.());
    return { engine, provider };
  }
  const call = { text, model: 'remote', format: 'mp3' } as const;

  test('closes everything when the reader stops', async () => {
    const { engine, provider } = await open(begins(mp3));
    const { signal } = new AbortController();
    const { audio } = await engine.synthesize(call, { signal });
    await expect.poll(() => provider.calls.length).toBe(2);
    for await (const bytes of audio) {
      expect(bytes.length).toBeGreaterThan(0);
      break;
    }
    await Promise.all(provider.calls.map(({ gone }) => gone));
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('closes everything when the reader stops before the first read', async () => {
    const { engine, provider } = await open(begins(mp3));
    const { signal } = new AbortController();
    const { audio } = await engine.synthesize(call, { signal });
    await audio[Symbol.asyncIterator]().return?.();
    await Promise.all(provider.calls.map(({ gone }) => gone));
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('closes everything after success and after failure', async () => {
    const { engine, provider } = await open(speaks(mp3));
    const { signal } = new AbortController();
    const { audio } = await engine.synthesize(call, { signal });
    let bytes = 0;
    for await (const some of audio) bytes += some.length;
    expect(bytes).toBe(2 * mp3.length);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    provider.behave(answers(500, ''));
    await expect(engine.synthesize(call, { signal })).rejects.toSatisfy(EngineError.is);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('rejects with the reason of the signal', async () => {
    const { engine } = await open(begins(mp3));
    const caller = new AbortController();
    const reason = new Error('gone');
    const { audio } = await engine.synthesize(call, { signal: caller.signal });
    const read = (async () => {
      for await (const bytes of audio) expect(bytes.length).toBe(mp3.length);
    })();
    caller.abort(reason);
    await expect(read).rejects.toBe(reason);
    await expect(engine.synthesize(call, { signal: caller.signal })).rejects.toBe(reason);
  });
});

/** What the engine closes when the reader of its audio stops. test/engines/providers has what a request ends. */
import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError, type EngineContext, type Engines } from '../../../engines/contract/index.ts';
import tts from '../../../engines/tts/index.ts';
import { answers, startProvider, type Behavior, type RawProvider } from '../../support/provider.ts';
import { begins, mp3, speaks } from './support.ts';

const text = 'First comes one sentence that is long. Then a second one that is as long. And a third.';

describe('the engine', () => {
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

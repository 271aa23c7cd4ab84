/** Availability of a hosted model, which never costs a request. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answers, resets } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { fineAnswer, startHosted } from './support.ts';

const fine = answers(200, fineAnswer);
const refused = answers(401, { error: { message: 'Incorrect API key provided' } });
const forbidden = answers(403, { error: { message: 'no access to this model' } });

describe('a hosted model is', () => {
  test('ready with a key, without a request to the provider', async () => {
    const { provider, service, probe } = await startHosted();
    expect(await probe()).toEqual({ available: true, code: 'ready', reason: 'Ready.', model: 'remote' });
    const listing: unknown = await (await service.api('/transcribe/models')).json();
    expect(listing).toEqual({
      data: [
        {
          id: 'remote',
          name: 'remote',
          engine: 'cloud',
          local: true, // it is on a loopback address
          available: true,
          code: 'ready',
          reason: 'Ready.',
          supports: ['prompt', 'temperature'],
        },
      ],
      default: 'remote',
    });
    expect(provider.calls).toEqual([]);
  });

  test('key-missing without a key, and the recording is not sent', async () => {
    const { provider, probe, transcribe } = await startHosted(fine, { apiKey: '${NO_SUCH_KEY}' });
    expect(await probe()).toMatchObject({ available: false, code: 'key-missing' });
    expect((await transcribe()).problem).toMatchObject({ status: 503, code: 'model-unavailable' });
    expect(provider.connections).toBe(0);
  });

  test('key-refused for all models of the provider after a 401, until a call succeeds', async () => {
    const { provider, probe, recheck, transcribe } = await startHosted(refused, { models: '[one, two]' });
    await transcribe({ model: 'one' });
    expect(await probe('one')).toMatchObject({ available: false, code: 'key-refused' });
    expect(await probe('two')).toMatchObject({ available: false, code: 'key-refused' });
    provider.behave(answers(500, ''));
    await transcribe({ model: 'one' });
    expect(await probe('one')).toMatchObject({ available: false, code: 'key-refused' });
    provider.behave(fine);
    expect((await transcribe({ model: 'two' })).status).toBe(200);
    await recheck();
    expect(await probe('one')).toMatchObject({ available: true, code: 'ready' });
  });

  test('key-refused for one model after a 403', async () => {
    const { probe, transcribe } = await startHosted(forbidden, { models: '[one, two]' });
    await transcribe({ model: 'one' });
    expect(await probe('one')).toMatchObject({ available: false, code: 'key-refused' });
    expect(await probe('two')).toMatchObject({ available: true, code: 'ready' });
  });

  test('upstream-unreachable for a minute, but still available', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { probe, recheck, transcribe } = await startHosted(resets);
    await transcribe();
    expect(await probe()).toMatchObject({ available: true, code: 'upstream-unreachable' });
    vi.setSystemTime(Date.now() + 59_000);
    await recheck();
    expect(await probe()).toMatchObject({ available: true, code: 'upstream-unreachable' });
    vi.setSystemTime(Date.now() + 2_000);
    await recheck();
    expect(await probe()).toMatchObject({ available: true, code: 'ready' });
  });

  test('ready again after any response of the provider', async () => {
    const { provider, probe, recheck, transcribe } = await startHosted(resets);
    await transcribe();
    provider.behave(answers(400, ''));
    await transcribe();
    await recheck();
    expect(await probe()).toMatchObject({ available: true, code: 'ready' });
  });

  test.each([
    { status: 429, behavior: answers(429, '') },
    { status: 500, behavior: answers(500, '') },
    { status: 503, behavior: answers(503, '', { 'retry-after': '30' }) },
  ])('ready after $status, which is temporary', async ({ behavior }) => {
    const { probe, transcribe } = await startHosted(behavior);
    await transcribe();
    expect(await probe()).toMatchObject({ available: true, code: 'ready' });
  });
});

describe('the options of a model', () => {
  const models = '[{ id: small, name: Small one, maxBytes: 100, languages: [de, en] }, big]';

  test('reject a recording that is too large, without sending it', async () => {
    const { provider, transcribe } = await startHosted(fine, { models });
    const { problem } = await transcribe({ model: 'small' });
    expect(problem).toMatchObject({ status: 422, code: 'recording-too-large' });
    expect(problem.detail).toContain('100 bytes');
    expect(provider.calls).toEqual([]);
  });

  test('reject an unsupported language, without sending the recording', async () => {
    const languages = '[{ id: remote, languages: [de, en] }]';
    const { provider, transcribe } = await startHosted(fine, { models: languages });
    const { problem } = await transcribe({ language: 'fr' });
    expect(problem).toMatchObject({ status: 422, code: 'language-not-supported' });
    expect(problem.detail).toContain('de, en');
    expect(provider.calls).toEqual([]);
    expect((await transcribe({ language: 'en' })).status).toBe(200);
  });

  test('set its display name, the local flag and the languages', async () => {
    const { service } = await startHosted(fine, { models, engine: 'local: true' });
    const listing: unknown = await (await service.api('/transcribe/models')).json();
    expect(listing).toMatchObject({
      data: [
        { id: 'small', name: 'Small one', local: true, languages: ['de', 'en'] },
        { id: 'big', name: 'big', local: true },
      ],
    });
  });

  test.each([
    ['models: []', 'engines.cloud.models'],
    ['models: [{ name: x }]', '"id" is missing'],
    ['models: [a], response: json', 'known: baseUrl, apiKey, headers, timeout, local, path, models'],
    ['models: [{ id: a, responseFormat: srt }]', 'auto, json, verbose_json'],
    ['models: [a], timeout: 0', 'engines.cloud.timeout'],
    ['models: [a], headers: { content-length: "3" }', 'engines.cloud.headers'],
    ['models: [a, a]', 'must be unique'],
  ])('make startup fail when they are invalid: %s', async (engine, message) => {
    const config = `engines: { cloud: { use: hosted-stt, baseUrl: "http://127.0.0.1:1/v1", ${engine} } }`;
    await expect(startTestService({ config })).rejects.toThrow(message);
  });

  test.each([
    'ftp://127.0.0.1/v1',
    'http://user:pass@127.0.0.1/v1',
    'http://127.0.0.1/v1?x=1',
    'api.example.com',
    'http://a:99999/v1',
  ])('make startup fail when baseUrl is invalid: %s', async (baseUrl) => {
    const config = `engines: { cloud: { use: hosted-stt, baseUrl: "${baseUrl}", models: [a] } }`;
    await expect(startTestService({ config })).rejects.toThrow('engines.cloud.baseUrl');
  });
});

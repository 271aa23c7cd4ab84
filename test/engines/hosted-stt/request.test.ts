/** What a provider is sent. */
import { describe, expect, test } from 'vitest';
import { readForm } from '../../support/provider.ts';
import { fineAnswer, key, recording, startHosted } from './support.ts';

describe('a request to the provider', () => {
  test('is a multipart form with the unchanged recording, Content-Length, file name, media type and key', async () => {
    const { provider, transcribe } = await startHosted();
    const { status, body } = await transcribe();
    expect({ status, body }).toEqual({
      status: 200,
      body: { text: 'alpha bravo', language: 'de', duration_ms: 1500, model: 'remote' },
    });
    const [call] = provider.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/v1/audio/transcriptions' });
    expect(call?.headers).toMatchObject({ authorization: `Bearer ${key}`, accept: 'application/json' });
    expect(call?.headers).not.toHaveProperty('transfer-encoding');
    expect(Number(call?.headers['content-length'])).toBe((await call!.body).length);
    const form = await readForm(call!);
    expect(Object.keys(form)).toEqual(['model', 'response_format', 'file']);
    expect(String(form.model?.content)).toBe('remote');
    expect(form.file?.head).toMatch(/filename="recording\.wav"\r\nContent-Type: audio\/wav$/);
    expect(form.file?.content.equals(recording)).toBe(true);
  });

  test('contains the requested language, or none', async () => {
    const { provider, transcribe } = await startHosted();
    await transcribe({ language: 'fr' });
    await transcribe();
    const [named, unnamed] = await Promise.all(provider.calls.map(readForm));
    expect(String(named?.language?.content)).toBe('fr');
    expect(unnamed).not.toHaveProperty('language');
  });

  test('uses the remote id of the model upstream and our id in the response', async () => {
    const { provider, transcribe } = await startHosted(undefined, {
      models: '[{ id: mine, remoteId: vendor/model-3 }]',
    });
    expect((await transcribe({ model: 'mine' })).body).toMatchObject({ model: 'mine' });
    expect(String((await readForm(provider.calls[0]!)).model?.content)).toBe('vendor/model-3');
  });

  test('contains the configured headers, which override the default ones', async () => {
    const { provider, transcribe } = await startHosted(undefined, {
      engine: 'headers: { x-team: blue, authorization: "Token abc" }',
    });
    await transcribe();
    expect(provider.calls[0]?.headers).toMatchObject({ 'x-team': 'blue', authorization: 'Token abc' });
  });

  test('reuses the previous connection', async () => {
    const { provider, transcribe } = await startHosted();
    for (let i = 0; i < 3; i += 1) await transcribe();
    expect({ calls: provider.calls.length, connections: provider.connections }).toEqual({ calls: 3, connections: 1 });
  });

  test('does not wait for other requests', async () => {
    const { provider, transcribe } = await startHosted(() => undefined);
    const answers = Array.from({ length: 12 }, () => transcribe());
    await expect.poll(() => provider.calls.length, { timeout: 10_000 }).toBe(12);
    await Promise.all(provider.calls.map((call) => call.body));
    for (const call of provider.calls) call.reply(200, fineAnswer);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  });
});

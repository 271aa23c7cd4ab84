/** The listing of hosted models, and their options. test/engines/providers has their availability. */
import { describe, expect, test } from 'vitest';
import { answers } from '../../support/provider.ts';
import { fineAnswer, startHosted } from './support.ts';

const fine = answers(200, fineAnswer);

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
});

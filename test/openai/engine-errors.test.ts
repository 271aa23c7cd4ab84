/** Every failure that an engine may report, through each operation that asks an engine for work. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineErrorCodes } from '../../engines/contract/index.ts';
import { problems } from '../../src/contract/problem-table.ts';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { reachScripted, type Reachable } from '../contract/support/service.ts';
import { createApi, type Answer } from '../support/http.ts';

let service: Reachable;
beforeAll(async () => {
  service = await reachScripted();
});
afterAll(() => service[Symbol.asyncDispose]());

const api = () => createApi(service.url);
const messages = [{ role: 'user', content: 'Hello' }];

/** With a model whose id is how it fails. */
const operations: Readonly<Record<string, (model: string) => Promise<Answer>>> = {
  transcription: (model) => {
    const body = multipart(recording, { name: 'model', value: model });
    return api().send('POST', '/v1/audio/transcriptions', { headers: multipartType, body });
  },
  translation: (model) => {
    const body = multipart(recording, { name: 'model', value: model });
    return api().send('POST', '/v1/audio/translations', { headers: multipartType, body });
  },
  speech: (model) => api().post('/v1/audio/speech', { model, input: 'Hello' }),
  chat: (model) => api().post('/v1/chat/completions', { model, messages }),
  response: (model) => api().post('/v1/responses', { model, input: messages }),
};

describe.each(Object.entries(operations))('%s', (_what, ask) => {
  test.each(engineErrorCodes)('%s', async (code) => {
    const { status, headers, error } = await ask(code);
    const row = problems[code].openai;
    expect({ status, ...error }).toMatchObject({
      status: row.status,
      type: row.type,
      code: row.code ?? code.replaceAll('-', '_'),
      message: expect.stringContaining('It fails on purpose.') as string,
    });
    expect(headers.get('x-should-retry')).toBe(String(row.retryable ?? false));
    const seconds = code === 'provider-rate-limited' ? 7 : problems[code].retryAfter;
    expect(headers.get('retry-after')).toBe(seconds === undefined ? null : String(seconds));
  });

  test('an unexpected error is 500 and does not reveal its cause', async () => {
    const { status, error, text } = await ask('crash');
    expect({ status, code: error.code }).toEqual({ status: 500, code: 'engine_failed' });
    expect(text).not.toContain('secret');
  });
});

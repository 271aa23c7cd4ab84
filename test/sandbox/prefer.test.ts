/** `Prefer: code=NNN`: in sandbox mode every declared answer of every operation, by the contract's examples. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { echo } from '../api/support/engines.ts';
import { nativeContract } from '../../src/contract/document.ts';
import { operations, root, type Operation } from '../contract/support/document.ts';
import { readEventStream } from '../support/event-stream.ts';
import { createApi } from '../support/http.ts';
import { startTestService } from '../support/service.ts';
import { saying, serveSandbox } from './support.ts';

const sandbox = serveSandbox({ env: { API_KEYS: 'a-key' } });

const pathOf = ({ template }: Operation) => `${root}${template.replace(/\{\w+\}/g, 'anything')}`;
const prefer = (preference: string) => ({ prefer: preference });

const declared = ({ id }: Operation, status: number) => nativeContract.operations.get(id)!.responses[status]!;

const table = operations.flatMap((operation) =>
  operation.statuses.map((status) => ({ operation, id: operation.id, status })),
);

describe('every declared answer', () => {
  it('is in the table', () => {
    expect(table.length).toBeGreaterThan(70);
  });

  // Without a key, without a body: the preference wins over all that could be wrong with a request.
  it.each(table)('$id $status', async ({ operation, status }) => {
    const answer = await sandbox.api.send(operation.method, pathOf(operation), {
      headers: prefer(`code=${status}`),
    });
    expect(answer.status).toBe(status); // the rest has been held against the contract
    const { headers = {}, content } = declared(operation, status);
    for (const [name, { example }] of Object.entries(headers)) {
      if (example !== undefined) expect(answer.headers.get(name)).toBe(example);
    }
    const [[mediaType, { example, examples = {} }] = ['', {}]] = Object.entries(content ?? {});
    const expected = example ?? Object.values(examples)[0]?.value;
    if (mediaType.endsWith('json')) expect(expected).toBeTypeOf('object');
    if (status >= 400) {
      expect(answer.body).toEqual({ ...(expected as object), instance: answer.headers.get('x-request-id') });
    } else if (mediaType === 'application/json') {
      expect(answer.body).toEqual(expected);
    }
  });

  it('is for the stream a whole one, whose result is the example of the plain answer', async () => {
    const { text, headers } = await sandbox.api.send('POST', '/api/v1/chat/stream', { headers: prefer('code=200') });
    const plain = await sandbox.api.send('POST', '/api/v1/chat', { headers: prefer('code=200') });
    const events = readEventStream(text, (what) => new Error(what));
    expect(events.map(({ type }) => type)).toEqual(['chat.started', 'step.started', 'content.delta', 'chat.completed']);
    expect(events[0]?.id).toBe(headers.get('x-request-id'));
    expect(events.at(-1)?.result).toEqual(plain.body);
  });

  it('is for the stream of a transcription a whole one, too', async () => {
    const { text } = await sandbox.api.send('POST', '/api/v1/transcribe/stream', { headers: prefer('code=200') });
    const plain = await sandbox.api.send('POST', '/api/v1/transcribe', { headers: prefer('code=200') });
    const events = readEventStream(text, (what) => new Error(what));
    expect(events.map(({ type }) => type)).toEqual([
      'transcription.started',
      'segment.created',
      'transcription.progress',
      'transcription.completed',
    ]);
    expect(events.at(-1)?.result).toEqual(plain.body);
  });

  it.each([
    ['POST', '/api/v1/tts', 200, 8044],
    ['GET', '/api/v1/tts/clips/anything', 200, 8044],
    ['GET', '/api/v1/tts/clips/anything', 206, 1024],
  ])('is for %s %s %d a beep', async (method, path, code, length) => {
    const headers = prefer(`code=${code}`);
    const response = await fetch(`${sandbox.service.url}${path}`, { method, headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(bytes.toString('latin1', 0, 15)).toMatch(/^RIFF....WAVEfmt$/s);
    expect(bytes).toHaveLength(length);
    expect(response.headers.get('content-range')).toBe(code === 206 ? 'bytes 0-1023/8044' : null);
  });
});

describe('the preference', () => {
  const chat = (preference: string, value: unknown = {}) =>
    sandbox.api.post('/api/v1/chat', value, { authorization: 'Bearer a-key', ...prefer(preference) });

  it.each([
    ['code=429'],
    ['CODE = 429'],
    ['code="429"'],
    ['respond-async, code=429'],
    ['wait=5; foo, code=429, handling=lenient'],
    ['code=429, code=401'],
    ['note="a, code=401, b", code=429'],
  ])('may be written %s', async (preference) => {
    expect((await chat(preference)).status).toBe(429);
  });

  it('wins over a body that is wrong, and over one that is right', async () => {
    expect((await chat('code=503')).status).toBe(503);
    expect((await chat('code=503', saying('Hello'))).status).toBe(503);
    const call = { headers: { ...multipartType, ...prefer('code=504') }, body: multipart(recording) };
    expect((await sandbox.api.send('POST', '/api/v1/transcribe', call)).status).toBe(504);
  });

  it('is answered to who sends a large recording with it', async () => {
    const value = Buffer.concat([recording.value as Buffer, Buffer.alloc(20 * 2 ** 20)]);
    const call = { headers: { ...multipartType, ...prefer('code=429') }, body: multipart({ ...recording, value }) };
    expect((await sandbox.api.send('POST', '/api/v1/transcribe', call)).status).toBe(429);
  });

  it('is answered to HEAD as to GET', async () => {
    const call = { headers: prefer('code=206') };
    const { status, headers, text } = await sandbox.api.send('HEAD', '/api/v1/tts/clips/anything', call);
    expect({ status, text, range: headers.get('content-range') }).toEqual({
      status: 206,
      text: '',
      range: 'bytes 0-1023/8044',
    });
    expect((await sandbox.api.send('HEAD', '/api/v1/models', { headers: prefer('code=503') })).status).toBe(503);
  });

  it('leaves the ordinary answer to who asks for none', async () => {
    expect((await chat('respond-async')).status).toBe(422);
    expect((await chat('return=minimal, encode=429', saying('Hello'))).status).toBe(200);
    expect((await sandbox.api.post('/api/v1/chat', saying('Hello'), prefer('wait=1'))).status).toBe(401);
  });

  it('may name one of several examples', async () => {
    const ask = (preference: string) => sandbox.api.send('POST', '/api/v1/transcribe', { headers: prefer(preference) });
    const named = await ask('code=422, example="Not a recording"');
    expect(named.problem.code).toBe('recording-not-accepted');
    expect((await ask('example="Two words", code=200')).body).toMatchObject({ text: 'Guten Morgen.' });
    const { problem } = await ask('code=422, example=other');
    expect(problem).toMatchObject({
      code: 'invalid-request',
      errors: [
        {
          in: 'header',
          pointer: '/Prefer',
          detail: 'has the unknown example "other"; named examples of 422: "Not a recording".',
        },
      ],
    });
    expect((await ask('code=504, example=other')).problem.detail).toContain('named examples of 504: none');
  });

  it.each(['418', '42', '200.0', 'abc', '__proto__', 'constructor'])(
    'is refused for the code %s, which is not declared, with those that are',
    async (code) => {
      const { status, problem } = await chat(`code=${code}`);
      const detail = `has the unknown code ${code}; createChat declares 200, 401, 403, 405, 408, 415, 422, 429, 500, 502, 503, 504.`;
      expect(status).toBe(422);
      expect(problem).toMatchObject({
        code: 'invalid-request',
        detail: `Prefer ${detail}`,
        errors: [{ in: 'header', pointer: '/Prefer', detail }],
      });
    },
  );

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    'has a declared answer for a code that %s does not declare, and for an unknown example',
    async (_id, operation) => {
      const refuses = operation.statuses.includes(422);
      for (const preference of ['code=418', 'code=503, example=other']) {
        const headers = { authorization: 'Bearer a-key', ...prefer(preference) };
        const { status } = await sandbox.api.send(operation.method, pathOf(operation), { headers });
        expect(status).toBe(refuses ? 422 : preference === 'code=418' ? 200 : 503);
      }
    },
  );

  it('does not make an address or a method that there is not', async () => {
    expect((await sandbox.api.get('/api/v1/nothing', prefer('code=200'))).status).toBe(404);
    expect((await sandbox.api.send('DELETE', '/api/v1/chat', { headers: prefer('code=200') })).status).toBe(405);
  });

  it('is nothing to /healthz and the documents', async () => {
    for (const path of ['/healthz', '/openapi.json']) {
      expect((await sandbox.api.get(path, prefer('code=503'))).status).toBe(200);
    }
  });
});

describe('a page of another origin', () => {
  const page = serveSandbox({ env: { CORS_ORIGINS: 'https://app.example' } });

  it('may send the preference, and reads the answer', async () => {
    const origin = 'https://app.example';
    const asking = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'prefer' };
    const preflight = await page.api.send('OPTIONS', '/api/v1/chat', { headers: asking });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/\bPrefer\b/);
    const { status, headers } = await page.api.post('/api/v1/chat', {}, { origin, ...prefer('code=429') });
    expect(status).toBe(429);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-expose-headers')).toMatch(/\bRetry-After\b/);
  });

  it('that is not listed is refused, whatever it prefers', async () => {
    const { problem } = await page.api.post('/api/v1/chat', {}, { origin: 'https://b.example', ...prefer('code=200') });
    expect(problem.code).toBe('origin-not-allowed');
  });
});

describe('outside of sandbox mode', () => {
  it.each([
    ['with other engines', echo],
    ['with the engine sandbox', { config: 'engines: { sandbox: { use: sandbox } }' }],
    ['with the mode switched off', { ...echo, env: { PARLANCE_SANDBOX: 'off' } }],
  ])('the preference is not honored (%s)', async (_what, options) => {
    const service = await startTestService(options);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const api = createApi(service.url);
    expect((await api.get('/api/v1/models', prefer('code=503'))).status).toBe(200);
    expect((await api.get('/api/v1/models', prefer('code=nonsense'))).status).toBe(200);
    expect((await api.post('/api/v1/chat', {}, prefer('code=200'))).status).toBe(422);
  });
});

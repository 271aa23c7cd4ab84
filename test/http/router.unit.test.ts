/** The path of a request: which step comes first, and what a failure in each of them is answered with. */
import { describe, expect, it } from 'vitest';
import type { operations } from '../../generated/api.d.ts';
import type { OperationTable } from '../../src/contract/operations.ts';
import { ProblemError } from '../../src/contract/problems.ts';
import { currentCaller } from '../../src/request-scope.ts';
import type { IncomingRequest } from '../../src/http/incoming-request.ts';
import { nativeFormat } from '../../src/http/native-format.ts';
import { createRouter, type RouterOptions } from '../../src/http/router.ts';
import { createKey } from '../../src/keys/key.ts';

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const noSession = (): never => {
  throw new Error('no session here');
};

type Part = Partial<RouterOptions<operations, object>>;

/** Sends one request and notes the steps that are visible from outside. */
async function send({ method = 'GET', path, query = '', headers = {}, body = {} }: Sent, options: Part = {}) {
  const steps: string[] = [];
  const handled: unknown[] = [];
  const operations = new Proxy({} as OperationTable<object>, {
    get: (_operations, operation) => ({
      permissions: [operation],
      beforeBody: () => steps.push(`admit ${String(operation)} for ${currentCaller()}`),
      handle(request: unknown) {
        steps.push(`handle ${String(operation)}`);
        handled.push(request);
        return Promise.resolve({ status: 200, mediaType: 'application/json', body: {} });
      },
    }),
  });
  const respond = createRouter<operations, object>({
    contract: nativeFormat.contract,
    operations,
    services: {},
    access: {
      authorize() {
        steps.push('authenticate');
        return { key: createKey('key-1'), tokenDigest: 'digest-1' };
      },
      authorizeSession: noSession,
      keyOf: noSession,
    },
    sessions: { open: noSession, replace: noSession },
    checkAnswers: false,
    ...options,
  });
  const log = () => undefined;
  const cleanups: (() => unknown)[] = [];
  const request: IncomingRequest = {
    id: 'request-1',
    api: { ...nativeFormat, respond },
    method,
    headers: { ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
    scope: { caller: '127.0.0.1' },
    signal: new AbortController().signal,
    log: { debug: log, info: log, warn: log, error: log },
    atEnd: (cleanup) => cleanups.push(cleanup),
    record: { path: `/api/v1${path}` },
    body: {
      json() {
        steps.push('read the body');
        return Promise.resolve({ value: body, bytes: 10 });
      },
      form: () => Promise.reject(new Error('no form here')),
    },
  };
  const responded = respond(request, { path: `/api/v1${path}`, query, host: '127.0.0.1' });
  const { answer, scope } = await responded.catch((error: unknown) => ({ answer: error, scope: undefined }));
  return { answer, scope, record: request.record, steps, handled };
}

const chat = { method: 'POST', path: '/chat', body: { messages: [{ role: 'user', content: 'Hello.' }] } };

describe('the steps of a request', () => {
  it('are taken in order', async () => {
    const { answer, scope, record, steps, handled } = await send(chat);
    expect(answer).toMatchObject({ status: 200 });
    expect(steps).toEqual(['authenticate', 'admit createChat for key-1', 'read the body', 'handle createChat']);
    expect(record).toMatchObject({ operation: 'createChat', key: 'key-1' });
    expect(scope).toMatchObject({ caller: 'key-1', key: { name: 'key-1' } });
    expect(handled).toMatchObject([{ id: 'request-1', body: chat.body, path: {}, query: {}, headers: {} }]);
  });

  it('do not begin where the contract cannot be opened, and the next request opens it', async () => {
    const { contract } = nativeFormat;
    let refused = 0;
    const opening = {
      ...contract,
      get document() {
        if (refused++ === 0) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
        return contract.document;
      },
    };
    const first = await send(chat, { contract: opening });
    expect(first.answer).toMatchObject({ code: 'EMFILE' });
    expect(first.steps).toEqual([]);
    expect((await send(chat, { contract: opening })).answer).toMatchObject({ status: 200 });
  });

  it('end with a path that does not exist', async () => {
    const { answer, record, steps } = await send({ path: '/nowhere' });
    expect(answer).toMatchObject({ code: 'not-found' });
    expect(record.operation).toBeUndefined();
    expect(steps).toEqual([]);
  });

  it.each(['/tts/clips//', '/tts/clips//x', '//tts/clips', '/chat//', '//'])(
    'end with a path that has an empty segment, whatever the method: %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE'])
        expect((await send({ method, path })).answer).toMatchObject({
          code: 'not-found',
          message: 'The path has an empty segment.',
        });
    },
  );

  it('ignore one slash at the end of the path', async () => {
    expect((await send({ ...chat, path: '/chat/' })).steps).toContain('handle createChat');
  });

  it('end with a method that the path does not have', async () => {
    const { answer } = await send({ method: 'PUT', path: '/transcribe' });
    expect(answer).toMatchObject({
      code: 'method-not-allowed',
      message: 'PUT is not supported; allowed: GET, HEAD, POST',
      headers: { Allow: 'GET, HEAD, POST' },
    });
  });

  it('end with a refused token, before anything is read', async () => {
    const authorize = () => {
      throw new ProblemError('unauthorized', 'The API key is not known.');
    };
    const { answer, steps } = await send(chat, {
      access: { authorize, authorizeSession: noSession, keyOf: noSession },
    });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    expect(steps).toEqual([]);
  });

  it('need no token for a clip, whose id is the permission', async () => {
    const { scope, steps, handled } = await send({ path: '/tts/clips/a%20b', headers: { range: 'bytes=0-' } });
    expect(steps).toEqual(['admit getSpeechClip for 127.0.0.1', 'handle getSpeechClip']);
    expect(scope).toEqual({ caller: '127.0.0.1' });
    expect(handled).toMatchObject([{ path: { id: 'a b' }, headers: { Range: 'bytes=0-' } }]);
  });

  it('end with an operation that the key may not use, before its body is read', async () => {
    const authorize = () => ({ key: createKey('key-1', { operations: ['listChatModels'] }), tokenDigest: 'digest-1' });
    const { answer, steps } = await send(chat, {
      access: { authorize, authorizeSession: noSession, keyOf: noSession },
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'operation-not-allowed' } });
    expect(steps).toEqual([]);
  });

  it('end with a limit of the key, before its body is read', async () => {
    const allow = () => Promise.reject(new ProblemError('rate-limited', 'The API key may send 1 request in a minute.'));
    const { answer, steps } = await send(chat, {
      limits: {
        allow,
        chargeFor: () => undefined,
        requireBudget: () => Promise.resolve(),
        allowTurn: () => Promise.resolve(),
      },
    });
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate-limited' } });
    expect(steps).toEqual(['authenticate', 'admit createChat for key-1']);
  });

  it('end with a body that breaks the contract', async () => {
    const { answer, steps } = await send({ ...chat, body: { messages: 'Hello.' } });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'invalid-request', errors: [{ pointer: '/messages' }] },
    });
    expect(steps).toEqual(['authenticate', 'admit createChat for key-1', 'read the body']);
  });

  it('end with a query that breaks the contract; what it does not declare is not passed on', async () => {
    const query = new URLSearchParams({ model: 'm'.repeat(257), other: '1' }).toString();
    const { answer } = await send({ path: '/transcribe', query });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ in: 'query', pointer: '/model' }] } });
    const { handled } = await send({ path: '/transcribe', query: 'model=&other=1' });
    expect(handled).toMatchObject([{ query: {} }]);
  });

  it('are skipped for a preferred answer', async () => {
    const preferred = { status: 200, mediaType: 'application/json', body: { made: 'up' } };
    const prefer = () => ({ answer: preferred, faults: {} });
    const { answer, steps } = await send({ ...chat, body: {} }, { prefer });
    expect(answer).toEqual(preferred);
    expect(steps).toEqual([]);
  });
});

describe('an answer', () => {
  it('that the contract does not declare is a failure of ours', async () => {
    const { answer } = await send(chat, { checkAnswers: true });
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal-error' } });
  });

  it('whose audio fails before its first bytes is the problem', async () => {
    // eslint-disable-next-line require-yield -- it fails before that
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      await Promise.resolve();
      throw new ProblemError('clip-not-found', 'The clip was given up.');
    };
    const prefer = () => ({ answer: { status: 200, mediaType: 'audio/wav', body: failing() }, faults: {} });
    const { answer } = await send({ path: '/tts/clips/1' }, { prefer, checkAnswers: true });
    expect(answer).toMatchObject({ status: 404, body: { code: 'clip-not-found' } });
  });
});

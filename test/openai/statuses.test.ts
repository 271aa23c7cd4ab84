/**
 * Statuses that the contract under /v1 declares, really answered by the operation that declares them: all of the lists,
 * and of the others those that need no engine.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiContract } from '../../src/contract/document.ts';
import { breakListings } from '../contract/support/defect.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { createApi, type Answer, type Call } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { engines } from './support/engines.ts';

const start = (options: TestServiceOptions = {}) => startTestService({ ...engines, ...options });

let service: TestService;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly mediaType: string | undefined;
  readonly statuses: readonly number[];
}

const operations: readonly Operation[] = [...openaiContract.operations].map(
  ([id, { method, path, requestBody, responses }]) => ({
    id,
    method: method.toUpperCase(),
    path: `${openaiContract.root}${path.replace('{id}', 'talker')}`,
    mediaType: Object.keys(requestBody?.content ?? {})[0],
    statuses: Object.keys(responses).map(Number),
  }),
);

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Call['headers'];
}

function ask({ url }: TestService, operation: Operation, { headers, ...changes }: Asked = {}): Promise<Answer> {
  const { method, path, mediaType } = { ...operation, ...changes };
  const boundary = mediaType === 'multipart/form-data' ? '; boundary=x' : '';
  const type = mediaType === undefined ? {} : { 'content-type': `${mediaType}${boundary}` };
  return createApi(url).send(method, path, { headers: { ...type, ...headers } });
}

/** Sends a head that announces a body, and nothing of the body. */
async function announce({ url }: TestService, operation: Operation, length: number): Promise<Answer> {
  const { method, path, mediaType = '' } = operation;
  using connection = await connectRaw(url);
  const headers = { 'content-type': `${mediaType}; boundary=x`, 'content-length': length };
  await connection.send(requestHead(method, path, headers));
  return await connection.answer(method, path);
}

type Way = (operation: Operation) => Promise<Answer>;

/** For every operation. */
const ways: Readonly<Record<number, Way>> = {
  401: async (operation) => {
    await using guarded = await start({ env: { API_KEYS: 'right' } });
    return await ask(guarded, operation);
  },
  403: (operation) => ask(service, operation, { headers: { host: 'evil.example' } }),
  405: (operation) => ask(service, operation, { method: 'PUT' }),
  408: async (operation) => {
    await using impatient = await start({ bodyTimeoutMs: 50, uploadTimeoutMs: 50 });
    return await announce(impatient, operation, 10);
  },
  413: (operation) => announce(service, operation, 50_000_000),
  415: (operation) => ask(service, operation, { headers: { 'content-type': 'text/html' } }),
};

/** For the lists. */
const listWays: Readonly<Record<number, Way>> = {
  200: (operation) => ask(service, operation),
  400: (operation) => ask(service, operation, { path: `${operation.path}?model=talker&capability=none` }),
  404: (operation) => {
    const path = operation.id === 'retrieveModel' ? '/v1/models/nobody' : `${operation.path}?model=nobody`;
    return ask(service, operation, { path });
  },
  429: async (operation) => {
    await using guarded = await start({ env: { API_KEYS: 'right' } });
    const guess = () => ask(guarded, operation, { headers: { authorization: 'Bearer wrong' } });
    for (let guesses = 0; guesses < 10; guesses += 1) await guess();
    return await guess();
  },
  500: async (operation) => {
    await using broken = await start();
    using _defect = breakListings(broken);
    return await ask(broken, operation);
  },
  503: async (operation) => {
    await using ending = await start();
    using _defect = breakListings(ending, () => void ending.service.stop(0));
    return await ask(ending, operation);
  },
};

/** For the WebSocket. Its session answers with the others. */
const socketWays: Readonly<Record<number, Way>> = {
  ...ways,
  400: (operation) => ask(service, operation, { path: `${operation.path}?intent=none` }),
  426: (operation) => ask(service, operation),
  429: listWays[429]!,
  503: async (operation) => {
    await using off = await start({ env: { REALTIME: 'off' } });
    return await ask(off, operation);
  },
};

const transcribedBy = (model: string) => ({ type: 'transcription', audio: { input: { transcription: { model } } } });

/** For client secrets, which begin as the WebSocket does. */
const secretWays: Readonly<Record<number, Way>> = {
  ...ways,
  404: ({ path }) => createApi(service.url).post(path, { session: transcribedBy('nobody') }),
  500: async (operation) => {
    await using broken = await start();
    using _defect = breakListings(broken);
    return await createApi(broken.url).post(operation.path, {});
  },
  503: socketWays[503]!,
};

const own: Readonly<Record<string, Readonly<Record<number, Way>>>> = {
  connectRealtime: socketWays,
  createRealtimeClientSecret: secretWays,
};

describe.each(operations)('$id', (operation) => {
  const isList = operation.method === 'GET' && operation.id !== 'connectRealtime';
  const known = own[operation.id] ?? (isList ? { ...ways, ...listWays } : ways);
  const shown = operation.statuses.filter((status) => isList || status in known);

  test.each(shown)('answers %i', async (status) => {
    const answer = await known[status]!(operation);
    expect(answer.status, answer.text).toBe(status);
  });
});

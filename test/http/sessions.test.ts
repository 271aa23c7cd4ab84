/** The places of sessions, which callers share: no one takes all of them for long. */
import { expect, it, onTestFinished } from 'vitest';
import { invalid } from '../../src/contract/problems.ts';
import type { Connect, SessionPlace } from '../../src/contract/session.ts';
import type { Services } from '../../src/handlers/dependencies.ts';
import type { IncomingRequest } from '../../src/http/incoming-request.ts';
import { createSessions } from '../../src/http/sessions.ts';
import type { SessionAccess } from '../../src/keys/client-secrets.ts';
import { openaiOperations } from '../../src/openai/index.ts';
import { bearer, keysFile, tokenOf, type TestEntry } from '../keys/support/keys.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connect, echo, refusal, useSessions } from './support/sessions.ts';

const places: SessionPlace[] = [];
useSessions((socket, place) => {
  places.push(place);
  return echo(socket, place);
});

const path = '/v1/realtime?intent=transcription';

async function start(places: number, ...keys: readonly TestEntry[]): Promise<TestService> {
  const service = await startTestService({
    config: 'engines: { made-up: { use: sandbox } }\n',
    env: { API_KEYS_FILE: 'keys.yaml', REALTIME_SESSIONS: String(places) },
    files: { 'keys.yaml': keysFile(...keys) },
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const as = (service: TestService, key: string) => connect(service, { headers: bearer(tokenOf(key)) });

async function alive({ ws, next }: Awaited<ReturnType<typeof connect>>): Promise<boolean> {
  ws.send('still here');
  return (await next()) === 'still here';
}

it('a caller with fewer sessions gets the place of the newest idle session of the caller with the most', async () => {
  const service = await start(4, { name: 'many' }, { name: 'few' }, { name: 'one' });
  const one = await as(service, 'one');
  const many = [await as(service, 'many'), await as(service, 'many'), await as(service, 'many')];
  places.at(-1)!.report({ isIdle: false, model: 'mine' });
  const few = await as(service, 'few');
  expect(await many[1]!.closed).toBe(1013);
  for (const session of [one, many[0]!, many[2]!, few]) expect(await alive(session)).toBe(true);
});

it('no one loses a place to a caller who would then have as many, or a session that is not idle', async () => {
  const service = await start(3, { name: 'many' }, { name: 'few' });
  const few = await as(service, 'few');
  const many = [await as(service, 'many'), await as(service, 'many')];
  for (const key of ['few', 'many']) {
    const { status, headers } = await refusal(service, bearer(tokenOf(key)), path);
    expect([status, headers.get('retry-after')]).toEqual([503, '60']);
  }
  const busy = await start(2, { name: 'many' }, { name: 'few' });
  for (let session = 0; session < 2; session += 1) {
    many.push(await as(busy, 'many'));
    places.at(-1)!.report({ isIdle: false, model: 'mine' });
  }
  expect((await refusal(busy, bearer(tokenOf('few')), path)).status).toBe(503);
  for (const session of [few, ...many]) expect(await alive(session)).toBe(true);
});

it('a key with a larger weight keeps more places', async () => {
  const service = await start(4, { name: 'heavy', weight: 3 }, { name: 'light' });
  for (let session = 0; session < 3; session += 1) await as(service, 'heavy');
  await as(service, 'light');
  expect((await refusal(service, bearer(tokenOf('light')), path)).status).toBe(503);
});

it('a refused caller is asked to return when a session is likely to have ended', async () => {
  const service = await start(1, { name: 'app' });
  const { ws, closed } = await as(service, 'app');
  ws.close();
  await closed;
  await expect.poll(() => service.log.some(({ status }) => status === 101)).toBe(true);
  await as(service, 'app');
  const { headers } = await refusal(service, bearer(tokenOf('app')), path);
  expect(Number(headers.get('retry-after'))).toBeLessThan(60);
});

it('a request that is refused for another cause takes no place of others', async () => {
  const service = await start(2, { name: 'many' }, { name: 'few' });
  const many = [await as(service, 'many'), await as(service, 'many')];
  const row = openaiOperations.connectRealtime as { connect?: Connect<Services> };
  const own = row.connect!;
  // Not a spy: Vitest restores it again after the file, and the files that follow would have the sessions of this one.
  row.connect = () => {
    row.connect = own;
    throw invalid('query', '/intent', 'is not supported');
  };
  expect((await refusal(service, bearer(tokenOf('few')), path)).status).toBe(400);
  for (const session of many) expect(await alive(session)).toBe(true);
});

it('a client secret has one session, the newest, also where its key may have one request in flight', async () => {
  const service = await start(10, { name: 'app', limits: { concurrentRequests: 1 } });
  const created = await createApi(service.url).post('/v1/realtime/client_secrets', {}, bearer(tokenOf('app')));
  const { value } = created.body as { readonly value: string };
  const phone = () => connect(service, { protocols: ['realtime', `openai-insecure-api-key.${value}`] });
  const before = await phone();
  const after = await phone();
  expect(await before.closed).toBe(1008);
  expect(await alive(after)).toBe(true);
});

it('a client secret has one session, also when two connect at the same time', async () => {
  const { signal } = new AbortController();
  const sessions = createSessions({ limit: 10, draining: signal, closing: signal, concluding: signal });
  const access = { secret: 'one' } as SessionAccess;
  const request = { atEnd: () => undefined, record: {} } as unknown as IncomingRequest;
  await Promise.all([sessions.replace(access), sessions.replace(access)]);
  const [older, newer] = [sessions.open(request, access), sessions.open(request, access)];
  expect([older.taken.aborted, newer.taken.aborted]).toEqual([true, false]);
});

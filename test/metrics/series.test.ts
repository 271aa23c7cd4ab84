/** The number of series depends on the settings only: whatever callers send, it does not grow. */
import { Agent, request as nodeRequest } from 'node:http';
import { expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { readSeries } from './support.ts';

/** SERIES_REQUESTS=10000 takes ten seconds of processor time. */
const requests = Number(process.env.SERIES_REQUESTS ?? 900);
const first = 100;
const concurrent = 32;

const known = ['the-first-key-of-this-service', 'the-second-key-of-this-service'];
const env = { METRICS_PORT: '0', PARLANCE_SANDBOX: '1', API_KEYS: known.join(','), LOG_LEVEL: 'warn' };

let seed = 1;
/** Letters that differ from call to call. */
function random(): string {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return `x${seed.toString(36)}`;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: object;
}

const messages = () => [{ role: 'user', content: random() }];
const [knownKey = '', otherKey = ''] = known;

/** Every shape comes among the first hundred; what is random in it differs each time. */
const shapes: readonly (() => Sent)[] = [
  () => ({ method: 'GET', path: `/${random()}`, key: random() }),
  () => ({ method: 'GET', path: `/api/v1/${random()}/${random()}?${random()}=1`, key: knownKey }),
  () => ({ method: 'GET', path: `/v1/${random()}`, key: random() }),
  () => ({ method: 'PURGE', path: `/${random()}`, key: random() }),
  () => ({ method: 'PROPFIND', path: `/api/v1/chat`, key: random() }),
  () => ({ method: random().toUpperCase(), path: `/${random()}`, key: random() }),
  () => ({ method: 'POST', path: '/api/v1/chat', key: random(), body: { messages: messages() } }),
  () => ({ method: 'POST', path: '/api/v1/chat', key: knownKey, body: { model: random(), messages: messages() } }),
  () => ({ method: 'POST', path: '/v1/chat/completions', key: otherKey, body: { model: random(), messages: messages() } }), // prettier-ignore
  () => ({ method: 'POST', path: '/v1/audio/speech', key: otherKey, body: { model: random(), input: random() } }),
  () => ({ method: 'POST', path: '/api/v1/tts', key: knownKey, body: { text: random(), voice_id: random() } }),
  () => ({ method: 'GET', path: `/v1/models/${random()}`, key: otherKey }),
  () => ({ method: 'GET', path: `/api/v1/tts/clips/${random()}`, key: knownKey }),
  () => ({ method: 'DELETE', path: `/api/v1/tts/clips/${random()}`, key: otherKey }),
  () => ({ method: 'GET', path: `/api/v1/transcribe/availability?model=${random()}`, key: knownKey }),
  () => ({ method: 'POST', path: '/api/v1/chat', key: knownKey, body: { [random()]: random() } }),
  () => ({
    method: 'POST',
    path: '/api/v1/chat',
    key: otherKey,
    body: { messages: [{ role: 'user', content: `call ${random()} {}` }] },
  }),
  () => ({ method: 'POST', path: '/api/v1/chat/stream', key: otherKey, body: { messages: messages() } }),
];

function send({ url }: TestService, agent: Agent, { method, path, key, body }: Sent): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': random() };
  return new Promise((resolve, reject) => {
    nodeRequest(url + path, { method, headers, agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    })
      .once('error', reject)
      .end(body && JSON.stringify(body));
  });
}

it(`does not grow after the first ${first} of ${requests} requests with random paths, models, methods, tools and keys`, async () => {
  await using service = await startTestService({ env });
  const agent = new Agent({ keepAlive: true, maxSockets: concurrent });
  let sent = 0;
  const statuses = new Map<number, number>();
  const sendUntil = (count: number) =>
    Promise.all(
      Array.from({ length: concurrent }, async () => {
        while (sent < count) {
          const status = await send(service, agent, shapes[sent++ % shapes.length]!());
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
  // Until wrong tokens are refused with 429.
  const guess = () => send(service, agent, { method: 'POST', path: '/api/v1/chat', key: random(), body: {} });
  while ((await guess()) !== 429);
  await sendUntil(first);
  const before = [...(await readSeries(service)).keys()].sort();
  await sendUntil(requests);
  agent.destroy();
  const after = [...(await readSeries(service)).keys()].sort();
  expect(after).toEqual(before);
  for (const status of [200, 400, 404, 405, 422, 429]) expect(statuses.get(status), String(status)).toBeGreaterThan(20);
}, 600_000);

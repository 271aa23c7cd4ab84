/** The limits of keys and the metrics over two fronts. The tests share one fleet; the later ones stop its Redis. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bearer, keysFile, tokenOf } from '../keys/support/keys.ts';
import type { KeyLimits } from '../../src/request-scope.ts';
import { find, seriesOf } from '../metrics/support.ts';
import { describeWith } from '../support/programs.ts';
import { openRedisServer, type RedisServer } from '../support/redis.ts';
import { createGate, formOf, startFront, type Script } from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // many processes, on a machine that may be busy

/** One for each test: what one test has counted is not in the way of another. */
const keys: Readonly<Record<string, KeyLimits>> = {
  'team-minute': { requestsPerMinute: 10 },
  'team-minute-without-redis': { requestsPerMinute: 10 },
  'team-minute-after': { requestsPerMinute: 10 },
  'team-flight': { concurrentRequests: 3 },
  'team-flight-without-redis': { concurrentRequests: 4 },
  'team-tokens': { tokensPerDay: 1 },
  'team-audio': { audioMinutesPerDay: 1 / 60 },
  'team-free': {},
};

const path = '/api/v1/models';

/** Undefined where the front does not show it. */
async function metricOf({ said }: { readonly said: { readonly stderr: string } }, name: string, labels = {}) {
  const [, url = ''] = /Metrics +(http\S+)/.exec(said.stderr)!;
  const { count, sum } = find(await seriesOf(url), name, labels);
  return count === 0 ? undefined : sum;
}

describeWith(['redis-server'], 'over two fronts', () => {
  type Front = Awaited<ReturnType<typeof startFront>>;
  let redis: RedisServer;
  let fronts: [Front, Front];
  const entries = Object.entries(keys).map(([name, limits]) => ({ name, limits }));
  const env = { FLEET_ROLE: 'both', API_KEYS_FILE: 'keys.json', METRICS_PORT: '0' };
  const start = () => startFront({ url: redis.url, env, files: { 'keys.json': keysFile(...entries) } });

  beforeAll(async () => {
    redis = await openRedisServer();
    fronts = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all([...fronts, redis].map((one) => one[Symbol.asyncDispose]()));
  });

  const ask = async (front: Front, key: string, to = path, init: RequestInit = {}) => {
    const headers = { ...bearer(tokenOf(key)), ...(init.headers as Record<string, string>) };
    const response = await fetch(front.url + to, { ...init, headers });
    const body = (await response.json()) as { readonly code?: string };
    return { status: response.status, code: body.code, headers: response.headers };
  };
  /** Sends them to both fronts in turn. */
  const askMany = (count: number, key: string) =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(fronts[index % 2]!, key)));
  const transcribe = (front: Front, key: string, script: Script) =>
    ask(front, key, '/api/v1/transcribe', { method: 'POST', ...formOf(script) });
  const chat = (front: Front, key: string) =>
    ask(front, key, '/api/v1/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    });

  /** Resolves when it has begun. */
  const openChat = (front: Front, key: string, signal: AbortSignal) => {
    const body = JSON.stringify({
      model: 'sandbox-chat-slow',
      messages: [{ role: 'user', content: 'word '.repeat(200) }],
    });
    const headers = { 'content-type': 'application/json', ...bearer(tokenOf(key)) };
    return fetch(`${front.url}/api/v1/chat/stream`, { method: 'POST', headers, body, signal });
  };

  const statusesOf = (answers: readonly { readonly status: number }[]) =>
    Object.fromEntries(Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, all]) => [status, all!.length])); // prettier-ignore

  test('each front counts the other', async () => {
    for (const front of fronts)
      await expect.poll(() => metricOf(front, 'parlance_fleet_nodes', { role: 'front' })).toBe(2);
  });

  test('a limit of 10 a minute lets exactly 10 requests through', async () => {
    const answers = await askMany(20, 'team-minute');
    expect(statusesOf(answers)).toEqual({ 200: 10, 429: 10 });
    const left = answers.flatMap(({ status, headers }) => (status === 200 ? [headers.get('ratelimit')] : []));
    expect(left.map((field) => Number(/^"requests";r=(\d+);/.exec(field!)![1])).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]); // prettier-ignore
    const refused = answers.find(({ status }) => status === 429)!;
    expect([refused.code, refused.headers.get('ratelimit-policy')]).toEqual(['rate-limited', '"requests";q=10;w=60']);
  });

  test('a key may have three requests at once', async () => {
    const gate = await createGate();
    const transcribing = [0, 1, 0, 1].map((front, index) =>
      transcribe(fronts[front]!, 'team-flight', { say: `at once ${index}`, until: gate.until }),
    );
    const refused = await Promise.race(transcribing);
    expect([refused.status, refused.code]).toEqual([429, 'concurrency-limited']);
    await gate.open();
    expect(statusesOf(await Promise.all(transcribing))).toEqual({ 200: 3, 429: 1 });
    await expect.poll(async () => (await transcribe(fronts[1], 'team-flight', { say: 'afterwards' })).status).toBe(200);
  });

  test('daily tokens are counted across all fronts', async () => {
    expect((await chat(fronts[0], 'team-tokens')).status).toBe(200);
    expect(await chat(fronts[1], 'team-tokens')).toMatchObject({ status: 429, code: 'quota-exceeded' });
  });

  test('daily audio is counted across all fronts', async () => {
    expect((await transcribe(fronts[1], 'team-audio', { say: 'a second', segments: 100 })).status).toBe(200);
    const refused = await transcribe(fronts[0], 'team-audio', { say: 'too much' });
    expect(refused).toMatchObject({ status: 429, code: 'quota-exceeded' });
  });

  test('the names of keys are not in Redis', async () => {
    const names = (await redis.ask('KEYS', '*')) as string[];
    expect(names.filter((name) => name.startsWith('parlance:limit:')).length).toBeGreaterThan(2);
    expect(names.filter((name) => name.includes('team'))).toEqual([]);
  });

  test('the metrics show the nodes and the waiting and running calls', async () => {
    const gate = await createGate();
    const scripts = Array.from({ length: 6 }, (_, index) => ({ say: `measured ${index}`, until: gate.until }));
    const answers = scripts.map((script, index) => transcribe(fronts[index % 2]!, 'team-free', script));
    const engine = { engine: 'scripted' };
    for (const front of fronts) {
      await expect.poll(() => metricOf(front, 'parlance_fleet_open', engine)).toBe(6);
      await expect.poll(() => metricOf(front, 'parlance_fleet_running', engine)).toBe(4);
      await expect.poll(() => metricOf(front, 'parlance_fleet_slots', engine)).toBe(4);
      expect(await metricOf(front, 'parlance_fleet_nodes', { role: 'worker' })).toBe(2);
      expect(await metricOf(front, 'parlance_fleet_redis_up')).toBe(1);
    }
    const waits = () => Promise.all(fronts.map((front) => metricOf(front, 'parlance_fleet_oldest_wait_seconds', engine))); // prettier-ignore
    expect(Math.max(...(await waits()).map(Number))).toBeGreaterThan(0);
    await gate.open();
    await Promise.all(answers);
    expect(await waits()).toEqual([0, 0]);
    await expect.poll(() => metricOf(fronts[0], 'parlance_fleet_open', engine)).toBe(0);
  });

  const said = (front: Front) => front.log().flatMap(({ msg }) => (msg.includes('API key limits') ? [msg] : []));

  test('while Redis is unavailable, each front allows its share and logs that once', async () => {
    await redis.stop();
    expect(statusesOf(await askMany(20, 'team-minute-without-redis'))).toEqual({ 200: 10, 429: 10 });
    const leave = new AbortController();
    const streams = [0, 0, 1, 1].map((front) => openChat(fronts[front]!, 'team-flight-without-redis', leave.signal));
    expect(statusesOf(await Promise.all(streams))).toEqual({ 200: 4 });
    for (const front of fronts)
      expect(await ask(front, 'team-flight-without-redis')).toMatchObject({ status: 429, code: 'concurrency-limited' });
    leave.abort();
    for (const front of fronts) {
      expect(said(front)).toEqual(['API key limits are counted per node: Redis is unavailable']);
      expect(await metricOf(front, 'parlance_fleet_redis_up')).toBe(0);
      expect(await metricOf(front, 'parlance_fleet_open')).toBeUndefined();
    }
  });

  test('when Redis is back and empty, limits are shared again and budgets are kept', async () => {
    await redis.start();
    await expect.poll(() => fronts.map((front) => said(front).at(-1))).toEqual(Array(2).fill('API key limits are shared by all fronts again')); // prettier-ignore
    expect(statusesOf(await askMany(20, 'team-minute-after'))).toEqual({ 200: 10, 429: 10 });
    for (const front of fronts) expect((await chat(front, 'team-tokens')).code).toBe('quota-exceeded');
  });
});

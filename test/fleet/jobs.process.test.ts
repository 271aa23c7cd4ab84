/** A job is on the disk of the front that accepted it; its parts are done by workers, and every front answers for it. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { create, end, eventsOf, read, readEvents, remove, transcript } from '../jobs/support/jobs.ts';
import { hookEngine, speechOf, textOf, wordEngine } from '../jobs/support/speech.ts';
import { keysFile, tokenOf } from '../keys/support/keys.ts';
import { freePort } from '../support/free-port.ts';
import { describeWith } from '../support/programs.ts';
import { openRedisServer, type RedisServer } from '../support/redis.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { secret } from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const operations = ['createTranscriptionJob'];
const files = {
  ...wordEngine.files,
  'keys.yaml': keysFile(
    { name: 'app', limits: { requestsPerMinute: 1_000 } },
    { name: 'other' },
    { name: 'writer', operations },
  ),
};
const bearer = (name: string) => ({ authorization: `Bearer ${tokenOf(name)}` });

interface Node extends TestService {
  readonly address: string;
}

describeWith(['redis-server'], 'a job of a fleet', () => {
  let redis: RedisServer;
  /** Accepts jobs, and works on none. */
  let owner: Node;
  /** Works, and answers for the jobs of the owner. */
  let other: Node;

  async function startNode(role: 'front' | 'both', env: Readonly<Record<string, string>> = {}): Promise<Node> {
    const address = `http://127.0.0.1:${await freePort()}`;
    const fleet = { FLEET_URL: redis.url, FLEET_SECRET: secret, FLEET_ROLE: role, FLEET_ADDRESS: address };
    const config = 'engines: { words: { use: ./words.mjs, decodes: true } }';
    const options = { config, files, env: { TRANSCRIBE_MAX_SECONDS: '4', ...fleet, ...env } };
    return { ...(await startTestService(options)), address };
  }

  beforeAll(async () => {
    redis = await openRedisServer();
    owner = await startNode('front');
    other = await startNode('both');
  });
  afterAll(async () => {
    await Promise.all([owner, other, redis].map((one) => one[Symbol.asyncDispose]()));
  });

  /** Resolves when the front knows the one that has the job, which announces itself after its start. */
  const isKnown = (front: Node, id: string, headers = {}) =>
    expect.poll(async () => (await fetch(`${front.url}/api/v1/transcriptions/${id}`, { headers })).status).toBe(200);

  test('can be read, followed and deleted through any front, and its parts are queued in the fleet', async () => {
    const { id } = await create(owner, speechOf(40));
    expect(id).toMatch(/^[\da-f]{8}\.[\w-]{22}$/);
    await isKnown(other, id);
    const live = eventsOf(other, id);
    const job = await end(other, id);
    expect(job).toEqual(await read(owner, id));
    expect(job.result?.text).toBe(textOf(40));
    const events = await eventsOf(owner, id);
    expect(await live).toEqual(events);
    expect(await eventsOf(other, id, 5)).toEqual(events.slice(6));
    const subtitles = await (await transcript(other, id, 'srt')).text();
    expect(subtitles).toBe(await (await transcript(owner, id, 'srt')).text());
    expect(subtitles).toContain('w39');
    expect((await remove(other, id)).status).toBe(204);
    for (const front of [owner, other]) expect((await transcript(front, id)).status).toBe(404);
    expect((await remove(other, id)).status).toBe(404);
  });

  test('belongs to its key on every front', async () => {
    const env = { API_KEYS_FILE: 'keys.yaml' };
    await using one = await startNode('front', env);
    await using another = await startNode('both', env);
    const { id } = await create(one, speechOf(4), {}, bearer('app'));
    await isKnown(another, id, bearer('app'));
    expect((await end(another, id, bearer('app'))).result?.text).toBe(textOf(4));
    await expect(read(another, id, bearer('other'))).rejects.toThrow(/^404 /);
    expect((await remove(another, id, bearer('other'))).status).toBe(404);
    const remaining = async () => {
      const { headers } = await fetch(`${another.url}/api/v1/transcriptions/${id}`, { headers: bearer('app') });
      return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    };
    const before = await remaining();
    expect(await remaining(), 'both fronts count together: a forwarded request counts once').toBe(before - 1);
    await expect(read(another, id, bearer('writer'))).rejects.toThrow(/^403 /);
    expect((await read(one, id, bearer('app'))).status).toBe('completed');
  });

  test('continues after a restart of its front, without lost or repeated words', async () => {
    const reached = Promise.withResolvers<undefined>();
    let parts = 0;
    const hook = hookEngine(({ signal }) => {
      parts += 1;
      if (parts !== 3) return undefined;
      reached.resolve(undefined);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const dataDir = await temporaryDirectory();
    const first = await startNode('front', { DATA_DIR: dataDir });
    const { id } = await create(first, speechOf(40));
    await reached.promise;
    await isKnown(other, id);
    const before = readEvents(await fetch(`${other.url}/api/v1/transcriptions/${id}/events`));
    await expect.poll(async () => (await read(other, id)).processed_ms).toBeGreaterThan(0);
    await first[Symbol.asyncDispose]();
    hook[Symbol.dispose]();
    const seen = await before;
    expect(seen.at(-1)?.type, 'it can be resumed').not.toMatch(/completed|failed/);
    const gone = await fetch(`${other.url}/api/v1/transcriptions/${id}`);
    expect([gone.status, gone.headers.get('retry-after')]).toEqual([503, '5']);

    await using _second = await startNode('front', { DATA_DIR: dataDir }); // with another tag
    await expect.poll(async () => (await transcript(other, id)).status, { timeout: 30_000 }).not.toBe(503);
    expect((await end(other, id)).result?.text).toBe(textOf(40));
    const all = await eventsOf(other, id);
    expect(all.slice(0, seen.length)).toEqual(seen);
    expect((await remove(other, id)).status).toBe(204);
  });

  test('of an unknown front is answered with 503, not 404, because the front may return', async () => {
    const answer = await fetch(`${other.url}/api/v1/transcriptions/01234567.${'A'.repeat(22)}`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await fetch(`${other.url}/api/v1/transcriptions/${'A'.repeat(22)}`)).status).toBe(404);
  });
});

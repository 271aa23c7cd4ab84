/** What the doctor says of a fleet. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { describeWith } from '../support/programs.ts';
import { openRedisServer, type RedisServer } from '../support/redis.ts';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { settingsOf, startFront, startWorker } from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // many processes, on a machine that may be busy

/** Its exit code, the lines about the fleet, and its last line. */
async function examine(url: string, env: Readonly<Record<string, string>>) {
  const { config, files, ...settings } = settingsOf({ url, env });
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, { ...files, 'parlance.config.yaml': config });
  const run = { cwd, env: { DATA_DIR: join(cwd, 'data'), ...settings.env } };
  const { code, stdout } = await runScript('src/bin/doctor.ts', [], run);
  const [, part = ''] = /^fleet\n((?: .*\n)+)/m.exec(stdout) ?? [];
  const lines = part.trimEnd().split('\n').map((line) => line.trim().replace(/ +/g, ' ')); // prettier-ignore
  return { code, lines, verdict: stdout.trimEnd().split('\n').at(-1) };
}

describeWith(['redis-server'], 'the doctor of a fleet', () => {
  let redis: RedisServer;
  beforeAll(async () => void (redis = await openRedisServer()));
  afterAll(() => redis[Symbol.asyncDispose]());

  test('reports a Redis that evicts keys, a port in use, and missing nodes', async () => {
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const address = `http://127.0.0.1:${await listen()}`;
    const { lines, code, verdict } = await examine(redis.url, { FLEET_ROLE: 'front', FLEET_ADDRESS: address });
    expect(lines.toSpliced(3, 1)).toEqual([
      expect.stringMatching('^ok Redis ') as string,
      'MISSING eviction maxmemory-policy: allkeys-lru',
      'fix: set maxmemory-policy to noeviction in redis.conf',
      'absent front none is connected',
      'fix: start a node with FLEET_ROLE=front or both',
      'absent worker none is connected',
      'fix: start a node with FLEET_ROLE=worker or both',
      `ok address ${address} (http in a private network)`,
      expect.stringMatching(/^MISSING fleet port cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/) as string,
      'fix: set FLEET_LISTEN to an address of this machine and a free port',
    ]);
    expect(code).toBe(1);
    expect(verdict, 'no worker serves scripted').toBe('Transcription works with: sandbox-transcribe, sandbox-transcribe-slow'); // prettier-ignore
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  });

  test('lists the nodes, and reports that workers transcribe for a front', async () => {
    const { url } = redis;
    await using front = await startFront({ url });
    await using _worker = await startWorker({ url, slots: 3 });
    const { address } = front;
    const { code, lines, verdict } = await examine(url, { FLEET_ROLE: 'front', FLEET_ADDRESS: address });
    expect(lines).toEqual([
      expect.stringMatching(`^ok Redis ${url}, version \\d+\\.\\d+`) as string,
      'ok eviction maxmemory-policy: noeviction',
      expect.stringMatching(/^ok clock 0\.\d s (ahead of|behind) that of Redis$/) as string,
      expect.stringMatching(`^ok front \\S+, ${address}$`) as string,
      expect.stringMatching(/^ok worker \S+, scripted \(3 slots\)$/) as string,
      `ok address ${address} (http in a private network)`,
      expect.stringMatching(/^ok fleet port 127\.0\.0\.1:\d+, used by \S+$/) as string,
    ]);
    expect(code).toBe(0);
    expect(verdict).toMatch(/^Transcription works with: scripted,/);

    const FLEET_SECRET = 'a secret that the other nodes do not share';
    const other = await examine(url, { FLEET_ROLE: 'worker', FLEET_SECRET });
    expect(other.lines.slice(3)).toEqual([
      'absent front none is connected',
      'fix: start a node with FLEET_ROLE=front or both',
      'absent worker none is connected',
      'fix: start a node with FLEET_ROLE=worker or both',
      'MISSING secret 2 other nodes use a different secret and are not listed',
      'fix: set the same FLEET_SECRET on all nodes',
    ]);
  });
});

/** A server that accepts connections; without `greet` it says nothing. */
async function listen(greet?: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    greet?.(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('the doctor of a fleet without Redis', () => {
  test('exits, shows no password, and reports an address that recordings must not be sent to', async () => {
    const port = await freePort();
    const env = { FLEET_ADDRESS: 'http://8.8.8.8:8485' };
    const { lines, code } = await examine(`redis://user:secret@127.0.0.1:${port}`, env);
    expect(lines).toEqual([
      `MISSING Redis redis://127.0.0.1:${port} cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
      'fix: start Redis or Valkey there, or correct FLEET_URL',
      expect.stringMatching(
        /^MISSING address FLEET_ADDRESS: recordings .*8\.8\.8\.8 is not a private address/,
      ) as string,
    ]);
    expect(code).toBe(1);
  });

  test('names the likely cause when Redis closes connections at once', async () => {
    const denied = (socket: Socket) => void socket.end('-DENIED Redis is running in protected mode.\r\n');
    const { lines } = await examine(`redis://127.0.0.1:${await listen(denied)}`, { FLEET_ROLE: 'worker' });
    expect(lines[1]).toBe('fix: it may be in protected mode: give it a password, or set protected-mode no');
  });

  test('exits when Redis hangs, and reports incomplete settings', async () => {
    const url = `redis://127.0.0.1:${await listen()}`;
    const { lines } = await examine(url, { FLEET_ADDRESS: `http://127.0.0.1:${await freePort()}` });
    expect(lines[0]).toMatch(/cannot be reached: it does not answer$/);
    const missing = await examine(url, { FLEET_ROLE: 'front' });
    expect(missing.lines).toEqual([expect.stringMatching(/^MISSING settings FLEET_ADDRESS: not set; /)]);
    expect(missing.code).toBe(1);
  });
});

/** A front, HAProxy and two workers, with the files of docs/guides/haproxy.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { blocksOf } from '../docs/support/pages.ts';
import { spawnService, tiedToUs, type ChildService } from '../support/child-service.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { writeFiles } from '../support/temporary.ts';
import { recording, transcribe, type Answer } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const page = 'docs/guides/haproxy.md';
const patience = { timeout: 60_000, interval: 20 };
const key = 'a-key-of-twenty-characters';
/** What the sandbox answers, after three seconds. */
const ofWorker = { status: 200, body: { model: 'local', language: 'en', duration_ms: 1750 } };

/** A block of the page, with other texts in place of those that it must contain. */
function example(language: string, changes: Readonly<Record<string, string>>): string {
  const [block = ''] = blocksOf(page, language);
  return Object.entries(changes).reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, block);
}

describeWith(['haproxy'], 'two workers behind HAProxy', ({ haproxy }) => {
  let front: TestService;
  let workers: readonly [ChildService, ChildService];

  const running = new AsyncDisposableStack();
  afterAll(() => running.disposeAsync());

  beforeAll(async () => {
    const start = async () => running.use(await spawnService({ env: { PARLANCE_SANDBOX: '1', API_KEYS: key } }));
    workers = await Promise.all([start(), start()]);
    const at = `127.0.0.1:${await freePort()}`;
    await startHaproxy(at);
    const config = example('yaml', {
      '127.0.0.1:8500': at,
      'id: local': 'id: local, remoteId: sandbox-transcribe-slow',
    });
    front = running.use(await startTestService({ config, env: { WORKERS_KEY: key } }));
  }, 120_000);

  async function startHaproxy(at: string): Promise<void> {
    const { path: directory } = running.use(await mkdtempDisposable(join(tmpdir(), 'parlance-haproxy-')));
    const [one, two] = workers.map(({ url }) => new URL(url).host) as [string, string];
    const config = example('haproxy', { '127.0.0.1:8500': at, '10.0.0.11:8484': one, '10.0.0.12:8484': two });
    await writeFiles(directory, { config });
    const [command, ...args] = tiedToUs(haproxy, '-db', '-f', join(directory, 'config'));
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit');
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    running.defer(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const isUp = () => fetch(`http://${at}/readyz`).then(({ ok }) => ok, () => false); // prettier-ignore
    await until(`HAProxy answers: ${said}`, isUp, 60_000);
  }

  /** The statuses of the transcriptions that a worker has ended. */
  const allOf = (worker: ChildService) =>
    worker.log().filter(({ operation }) => operation === 'createTranscription').map(({ status }) => status); // prettier-ignore

  const earlier = new Map<ChildService, number>();
  beforeEach(async () => {
    // What an earlier request leaves for a moment after its answer would look like work.
    const leftovers = () => Promise.all(workers.map((worker) => worker.leftovers()));
    await expect.poll(leftovers, patience).toEqual([[], []]);
    for (const worker of workers) earlier.set(worker, allOf(worker).length);
  });
  /** Those of this test. */
  const ended = (worker: ChildService) => allOf(worker).slice(earlier.get(worker));

  /** The worker that has the recording on its disk. */
  async function busyWorker(): Promise<ChildService> {
    let found: ChildService | undefined;
    const look = async () => {
      const files = await Promise.all(workers.map((worker) => worker.leftovers()));
      found = workers.find((_worker, index) => files[index]!.length > 0);
      return found;
    };
    await expect.poll(look, patience).toBeDefined();
    return found!;
  }

  const other = (worker: ChildService) => workers.find((one) => one !== worker)!;

  test('have as much to do, each', async () => {
    const timed = { timestamps: 'word' };
    const answers = await Promise.all(Array.from({ length: 4 }, () => transcribe(front, recording, timed)));
    for (const answer of answers) {
      expect(answer).toMatchObject(ofWorker);
      expect(answer.body.words).not.toEqual([]);
    }
    await expect
      .poll(() => workers.map(ended))
      .toEqual([
        [200, 200],
        [200, 200],
      ]);
  });

  test('stop working for a client that disconnects', async () => {
    const leaving = new AbortController();
    const form = new FormData();
    form.set('file', new File([new Uint8Array(recording)], 'recording'));
    const request = fetch(`${front.url}/api/v1/transcribe`, { method: 'POST', body: form, signal: leaving.signal });
    const worker = await busyWorker();
    leaving.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => ended(worker), patience).toEqual([499]);
    await expect.poll(() => worker.leftovers(), patience).toEqual([]);
    expect(ended(other(worker))).toEqual([]);
  });

  test('stand in for each other when one is killed while it is busy', async () => {
    const answer: Promise<Answer> = transcribe(front, recording);
    const worker = await busyWorker();
    worker.kill('SIGKILL');
    expect(await answer).toMatchObject(ofWorker);
    await expect.poll(() => ended(other(worker))).toEqual([200]);
    expect(ended(worker)).toEqual([]);
  });
});

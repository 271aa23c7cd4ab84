/** A front, HAProxy and two workers, with the files of docs/guides/more-than-one-machine.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { blocksOf } from '../docs/support/pages.ts';
import { startChildService, tiedToUs, type ChildService } from '../support/child-service.ts';
import { freePort } from '../support/free-port.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { recording, transcribe, type Answer } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const page = 'docs/guides/more-than-one-machine.md';
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

  beforeEach(async () => {
    const env = { PARLANCE_SANDBOX: '1', API_KEYS: key };
    workers = await Promise.all([startChildService({ env }), startChildService({ env })]);
    const at = `127.0.0.1:${await freePort()}`;
    await startHaproxy(at);
    const config = example('yaml', {
      '127.0.0.1:8500': at,
      'id: local': 'id: local, remoteId: sandbox-transcribe-slow',
    });
    front = await startTestService({ config, env: { WORKERS_KEY: key } });
    onTestFinished(() => front[Symbol.asyncDispose]());
  });

  async function startHaproxy(at: string): Promise<void> {
    const directory = await temporaryDirectory();
    const [one, two] = workers.map(({ url }) => new URL(url).host) as [string, string];
    const config = example('haproxy', { '127.0.0.1:8500': at, '10.0.0.11:8484': one, '10.0.0.12:8484': two });
    await writeFiles(directory, { config });
    const [command, ...args] = tiedToUs(haproxy, '-db', '-f', join(directory, 'config'));
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit');
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const isUp = () => fetch(`http://${at}/readyz`).then(({ status }) => status, () => said); // prettier-ignore
    await expect.poll(isUp, patience).toBe(200);
  }

  /** The statuses of the transcriptions that a worker has ended. */
  const ended = (worker: ChildService) =>
    worker.log().filter(({ operation }) => operation === 'createTranscription').map(({ status }) => status); // prettier-ignore

  /** The worker that has the recording on its disk. */
  async function atWork(): Promise<ChildService> {
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
    const worker = await atWork();
    leaving.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => ended(worker), patience).toEqual([499]);
    await expect.poll(() => worker.leftovers(), patience).toEqual([]);
    expect(ended(other(worker))).toEqual([]);
  });

  test('stand in for each other when one is killed at work', async () => {
    const answer: Promise<Answer> = transcribe(front, recording);
    const worker = await atWork();
    worker.kill('SIGKILL');
    expect(await answer).toMatchObject(ofWorker);
    await expect.poll(() => ended(other(worker))).toEqual([200]);
    expect(ended(worker)).toEqual([]);
  });
});

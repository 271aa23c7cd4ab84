/** Jobs across the end of a service: what is accepted goes on, what is unreadable stands in nobody's way. */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { multipart, multipartType } from '../api/support/forms.ts';
import { create, end, eventsOf, read, readEvents, type JobView, type SentEvent } from './support/jobs.ts';
import { hookEngine, speechOf, textOf, wordEngine } from './support/speech.ts';

const start = (dataDir: string, { env, ...options }: TestServiceOptions = {}) =>
  startTestService({
    ...wordEngine,
    ...options,
    env: { TRANSCRIBE_MAX_SECONDS: '4', DATA_DIR: dataDir, ...env },
  });

/** Holds the part with this number; `reached` resolves when it begins, `stopped` when it is given up. */
function holdPart(number: number) {
  const reached = Promise.withResolvers<undefined>();
  const stopped = Promise.withResolvers<undefined>();
  const seen: (number | undefined)[] = [];
  const hook = hookEngine(({ first, signal }) => {
    seen.push(first);
    if (seen.length !== number) return undefined;
    reached.resolve(undefined);
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        stopped.resolve(undefined);
        reject(signal.reason as Error);
      }),
    );
  });
  return { reached: reached.promise, stopped: stopped.promise, seen, [Symbol.dispose]: () => hook[Symbol.dispose]() };
}

describe('after a restart', () => {
  test('a job goes on with the part that was at work, and its events keep their numbers', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(3);
    let id: string;
    let before: Promise<SentEvent[]>;
    {
      await using service = await start(dataDir);
      ({ id } = await create(service, speechOf(40)));
      await held.reached;
      const stream = await service.api(`/transcriptions/${id}/events`);
      before = readEvents(stream);
      await service.service.stop(0);
    }
    const seen = await before;
    expect(seen.at(-1)?.type).toBe('transcription.progress');
    await using service = await start(dataDir);
    expect((await end(service, id)).result?.text).toBe(textOf(40));
    expect(new Set(held.seen).size).toBe(held.seen.length - 1); // one part twice
    const all = await eventsOf(service, id);
    expect(all.slice(0, seen.length)).toEqual(seen);
    expect(await eventsOf(service, id, seen.length - 1)).toEqual(all.slice(seen.length));
  });

  test('what is over is kept as long as it was to be, and counts on the disk', async () => {
    const dataDir = await temporaryDirectory();
    let id: string;
    {
      await using service = await start(dataDir);
      ({ id } = await create(service, speechOf(4)));
      await end(service, id);
    }
    {
      await using service = await start(dataDir);
      expect((await read(service, id)).result?.text).toBe(textOf(4));
      expect(service.service.disk.used).toBeGreaterThan(0);
    }
    await using service = await start(dataDir, { env: { TRANSCRIBE_JOB_KEEP: '1' } });
    await expect.poll(async () => readdir(join(dataDir, 'jobs'))).toEqual(['owner.sqlite']);
    await expect.poll(() => service.service.disk.used).toBe(0);
  });

  test('an upload that was not accepted is gone', async () => {
    const dataDir = await temporaryDirectory();
    const abandoned = join(dataDir, 'jobs', 'abandoned_upload_of_22');
    await mkdir(abandoned, { recursive: true });
    await writeFile(join(abandoned, 'upload'), 'half a recording');
    await writeFile(join(abandoned, 'job.json.new'), '{');
    await using _service = await start(dataDir);
    expect(await readdir(join(dataDir, 'jobs'))).toEqual(['owner.sqlite']);
  });

  test.each([
    ['is cut off', (text: string) => text.slice(0, 40)],
    ['has another version', (text: string) => text.replace('"version":1', '"version":2')],
    ['lacks a field', (text: string) => text.replace('"model"', '"modem"')],
    ['has an impossible date', (text: string) => text.replace(/"createdAt":\d+/, '"createdAt":8640000000000001')],
  ])('a record that %s is set aside, and the others go on', async (_what, change) => {
    const dataDir = await temporaryDirectory();
    const { good, bad } = await brokenOff(dataDir);
    const record = join(dataDir, 'jobs', bad.id, 'job.json');
    await writeFile(record, change(await readFile(record, 'utf8')));
    await using service = await start(dataDir);
    expect((await end(service, good.id)).result?.text).toBe(textOf(20));
    await expect(read(service, bad.id)).rejects.toThrow(/^404 /);
    const aside = join(dataDir, 'jobs/set-aside');
    const [name = ''] = await readdir(aside);
    expect(name).toContain(bad.id);
    expect(await readdir(join(aside, name))).toContain('upload');
    const lines = service.log.filter(({ msg }) => msg === 'a transcription job cannot be read and is set aside');
    expect(lines).toHaveLength(1);
  });

  test('a record that can be neither read nor moved stays where it is, and the others go on', async () => {
    const dataDir = await temporaryDirectory();
    const { good, bad } = await brokenOff(dataDir);
    await writeFile(join(dataDir, 'jobs', bad.id, 'job.json'), '{');
    await writeFile(join(dataDir, 'jobs/set-aside'), 'a file where the directory should be');
    await using service = await start(dataDir);
    expect((await end(service, good.id)).result?.text).toBe(textOf(20));
    expect(await readdir(join(dataDir, 'jobs', bad.id))).toContain('upload');
    const lines = service.log.filter(({ msg }) => msg === 'a transcription job can be neither read nor set aside');
    expect(lines).toMatchObject([{ reason: expect.stringContaining('ENOTDIR') as string }]);
  });

  test('a recording that has become shorter fails, and is not taken for the whole', async () => {
    const dataDir = await temporaryDirectory();
    const { good, bad } = await brokenOff(dataDir);
    const recording = join(dataDir, 'jobs', bad.id, 'upload');
    await writeFile(recording, (await readFile(recording)).subarray(0, -16_000));
    await using service = await start(dataDir);
    expect((await end(service, good.id)).status).toBe('completed');
    const { status, problem } = await end(service, bad.id);
    expect({ status, code: problem?.code }).toEqual({ status: 'failed', code: 'recording-undecodable' });
  });

  test('what is no job of ours is not removed', async () => {
    const dataDir = await temporaryDirectory();
    const folders = ['0123456789_is_a_job_id', 'lost+found'].map((name) => join(dataDir, 'jobs', name));
    for (const folder of folders) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'letter.txt'), 'keep me');
      await writeFile(join(folder, 'upload'), 'half a recording');
    }
    await using service = await start(dataDir);
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
    const kept = await readdir(join(dataDir, 'jobs'), { recursive: true });
    expect(kept.filter((path) => path.endsWith('letter.txt'))).toHaveLength(2);
    expect(kept.filter((path) => path.endsWith('upload'))).toEqual(['lost+found/upload']); // the other one is ours
    const lines = service.log.filter(({ msg }) => msg === 'this is no transcription job, and stays where it is');
    expect(lines.map(({ path }) => path).toSorted()).toEqual(folders.toSorted());
  });

  test('a job that ended a month ahead of the clock is kept', async () => {
    const dataDir = await temporaryDirectory();
    let id: string;
    {
      await using service = await start(dataDir);
      ({ id } = await create(service, speechOf(4)));
      await end(service, id);
    }
    const record = join(dataDir, 'jobs', id, 'job.json');
    const changed = JSON.parse(await readFile(record, 'utf8')) as { endedAt: number };
    await writeFile(record, JSON.stringify({ ...changed, endedAt: changed.endedAt + 30 * 86_400_000 }));
    await using service = await start(dataDir);
    expect((await read(service, id)).result?.text).toBe(textOf(4));
  });

  test('a job of open mode goes on when keys were added, and no key can read it', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(2);
    let id: string;
    {
      await using service = await start(dataDir);
      ({ id } = await create(service, speechOf(20)));
      await held.reached;
    }
    {
      await using service = await start(dataDir, { env: { API_KEYS: 'one' } });
      const record = async () => JSON.parse(await readFile(join(dataDir, 'jobs', id, 'job.json'), 'utf8')) as object;
      await expect.poll(record, { timeout: 20_000 }).toMatchObject({ status: 'completed' });
      await expect(read(service, id, { authorization: 'Bearer one' })).rejects.toThrow(/^404 /);
    }
    await using service = await start(dataDir);
    expect((await read(service, id)).result?.text).toBe(textOf(20));
  });

  test('a job whose key is gone fails, and nobody sees it', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(2);
    let id: string;
    {
      await using service = await start(dataDir, { env: { API_KEYS: 'one' } });
      ({ id } = await create(service, speechOf(20), {}, { authorization: 'Bearer one' }));
      await held.reached;
    }
    await using service = await start(dataDir);
    await expect(read(service, id)).rejects.toThrow(/^404 /);
    const failed = (): unknown =>
      service.log.find(({ msg, code }) => msg === 'a job failed' && code === 'unauthorized');
    await expect.poll(failed).toBeDefined();
  });
});

async function brokenOff(dataDir: string): Promise<{ readonly good: JobView; readonly bad: JobView }> {
  using held = holdPart(2);
  await using service = await start(dataDir);
  const [good, bad] = [await create(service, speechOf(20)), await create(service, speechOf(4))];
  await held.reached;
  return { good, bad };
}

describe('two services on one DATA_DIR', () => {
  test('the second serves everything but jobs, and takes over', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(2);
    let second: TestService;
    let id: string;
    {
      await using first = await start(dataDir);
      ({ id } = await create(first, speechOf(16)));
      await held.reached;
      second = await start(dataDir, { jobOwnerMs: 20 });
      await expect(create(second, speechOf(4))).rejects.toThrow(/^503 .*Another service/);
      await expect(read(second, id)).rejects.toThrow(/^503 .*not-ready/);
      expect((await second.api('/transcribe')).status).toBe(200);
    }
    await using heir = second;
    await expect.poll(async () => (await heir.api(`/transcriptions/${id}`)).status).toBe(200);
    expect((await end(heir, id)).result?.text).toBe(textOf(16));
  });

  test('the first leaves the jobs to the second after its lock was removed', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(2);
    await using first = await start(dataDir);
    const { id } = await create(first, speechOf(16));
    await held.reached;
    await rm(join(dataDir, 'jobs/owner.sqlite'));
    await using second = await start(dataDir);
    await expect(read(first, id)).rejects.toThrow(/^503 .*Another service/);
    await held.stopped;
    expect((await end(second, id)).result?.text).toBe(textOf(16));
  });
});

describe('a lock file', () => {
  test.each([
    ['another program has written', (path: string) => writeFile(path, 'not a database '.repeat(500))],
    ['is a directory', (path: string) => mkdir(path)],
    ['is a symlink', (path: string) => symlink('/etc/hostname', path)],
  ])('that %s is replaced', async (_what, make) => {
    const dataDir = await temporaryDirectory();
    await mkdir(join(dataDir, 'jobs'));
    await make(join(dataDir, 'jobs/owner.sqlite'));
    await using service = await start(dataDir);
    expect((await end(service, (await create(service, speechOf(4))).id)).result?.text).toBe(textOf(4));
    expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
  });

  test('that another program has written still belongs to the service that has it', async () => {
    const dataDir = await temporaryDirectory();
    await using first = await start(dataDir);
    await create(first, speechOf(4));
    await writeFile(join(dataDir, 'jobs/owner.sqlite'), 'not a database '.repeat(500));
    await using second = await start(dataDir);
    await expect(create(second, speechOf(4))).rejects.toThrow(/^503 .*Another service/);
  });
});

test('an upload goes on when the lock of the jobs is removed at run time', async () => {
  const dataDir = await temporaryDirectory();
  await using service = await start(dataDir);
  const folders = async () => (await readdir(join(dataDir, 'jobs'))).filter((name) => name !== 'owner.sqlite');
  const body = multipart({ name: 'file', value: speechOf(8), filename: 'a.wav' });
  const rest = Promise.withResolvers<undefined>();
  async function* inTwoParts() {
    yield body.subarray(0, 100_000);
    await rest.promise;
    yield body.subarray(100_000);
  }
  const accepted = fetch(`${service.url}/api/v1/transcriptions`, {
    ...{ method: 'POST', headers: multipartType, body: ReadableStream.from(inTwoParts()) },
    duplex: 'half',
  });
  await expect.poll(folders).toHaveLength(1);
  const [id = ''] = await folders();
  await rm(join(dataDir, 'jobs/owner.sqlite'));
  await expect(read(service, id)).rejects.toThrow(/^404 /); // takes the lock again
  rest.resolve(undefined);
  expect((await accepted).status).toBe(202);
  expect((await end(service, id)).result?.text).toBe(textOf(8));
});

describe('a directory of the jobs that is removed at run time', () => {
  test('is made again, and jobs go on; those of before do not exist any more', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(2);
    await using service = await start(dataDir);
    const over = await create(service, speechOf(4));
    await end(service, over.id);
    const queued = await create(service, speechOf(20));
    await held.reached;
    await rm(join(dataDir, 'jobs'), { recursive: true });
    const { id } = await create(service, speechOf(4));
    expect((await end(service, id)).result?.text).toBe(textOf(4));
    for (const gone of [over, queued]) await expect(read(service, gone.id)).rejects.toThrow(/^404 /);
    expect(await readdir(join(dataDir, 'jobs'))).toEqual(expect.arrayContaining(['owner.sqlite', id]));
  });

  test('keeps no later job of the same caller waiting behind the one that was at work', async () => {
    const dataDir = await temporaryDirectory();
    const reached = Promise.withResolvers<undefined>();
    const removed = Promise.withResolvers<undefined>();
    using _hook = hookEngine(() => {
      reached.resolve(undefined);
      return removed.promise;
    });
    await using service = await start(dataDir);
    const atWork = await create(service, speechOf(4));
    await reached.promise;
    await rm(join(dataDir, 'jobs', atWork.id), { recursive: true });
    removed.resolve(undefined);
    const { id } = await create(service, speechOf(4));
    expect((await end(service, id)).status).toBe('completed');
    await expect(read(service, atWork.id)).rejects.toThrow(/^404 /);
  });
});

test('a directory that cannot be used refuses jobs alone', async () => {
  const dataDir = await temporaryDirectory();
  await writeFile(join(dataDir, 'jobs'), 'a file');
  await using service = await start(dataDir);
  await expect(create(service, speechOf(4))).rejects.toThrow(/^503 .*ENOTDIR/);
  expect((await service.api('/transcribe')).status).toBe(200);
});

/** Jobs across the end of a service: accepted jobs continue, and an unreadable database is set aside. */
import { copyFile, mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../lib/sqlite.ts';
import { inspectJobs } from '../../src/jobs/directory.ts';
import type { TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { multipart, multipartType } from '../api/support/forms.ts';
import { create, end, eventsOf, read, readEvents, remove, type SentEvent } from './support/jobs.ts';
import { brokenOff, change, holdPart, overIn, setAsideIn, start } from './support/restart.ts';
import { hookEngine, speechOf, textOf } from './support/speech.ts';

describe('after a restart', () => {
  test('a job continues with the part that was running, and its events keep their numbers', async () => {
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
    const { id } = await overIn(dataDir);
    {
      await using service = await start(dataDir);
      expect((await read(service, id)).result?.text).toBe(textOf(4));
      expect(service.service.disk.used).toBeGreaterThan(0);
    }
    await using service = await start(dataDir, { env: { TRANSCRIBE_JOB_KEEP: '1' } });
    await expect.poll(async () => readdir(join(dataDir, 'jobs/recordings'))).toEqual([]);
    await expect.poll(() => service.service.disk.used).toBe(0);
  });

  test('a recording without a row is removed, of a job that is over and of an upload that was not accepted', async () => {
    const dataDir = await temporaryDirectory();
    const { id } = await overIn(dataDir);
    const recordings = join(dataDir, 'jobs/recordings');
    await mkdir(join(recordings, 'abandoned_upload_of_22'));
    for (const folder of [id, 'abandoned_upload_of_22'])
      await writeFile(join(recordings, folder, 'upload'), 'half of one');
    await using service = await start(dataDir);
    expect(await readdir(recordings, { recursive: true })).toEqual([id]);
    expect((await read(service, id)).result?.text).toBe(textOf(4));
  });

  test.each<readonly [string, (path: string) => unknown]>([
    ['is cut off', async (path) => truncate(path, 5000)],
    ['has another version', (path) => change(path, 'PRAGMA user_version = 2')],
    ['lacks a table', (path) => change(path, 'DROP TABLE parts')],
    ['is empty', (path) => truncate(path)],
    ['is missing', (path) => rm(path)],
    ['has no tables', (path) => change(path, 'DROP TABLE parts; DROP TABLE jobs; PRAGMA user_version = 0')],
    ['lacks its write-ahead log', withoutLog],
    ['another program has written', (path) => writeFile(path, 'not a database '.repeat(500))],
    ['is a directory', replacedBy((path) => mkdir(path))],
    ['is a symlink', replacedBy((path) => symlink('/etc/hostname', path))],
    ['has a directory in the place of its write-ahead log', (path) => mkdir(`${path}-wal`)],
  ])('a database that %s is set aside with its recordings, and new jobs work', async (_what, spoil) => {
    const dataDir = await temporaryDirectory();
    const { bad } = await brokenOff(dataDir);
    await spoil(join(dataDir, 'jobs/jobs.sqlite'));
    await using service = await start(dataDir);
    await expect(read(service, bad.id)).rejects.toThrow(/^404 /);
    expect((await end(service, (await create(service, speechOf(4))).id)).result?.text).toBe(textOf(4));
    const kept = await readdir(join(dataDir, 'jobs/set-aside'), { recursive: true });
    for (const name of ['/jobs.sqlite', `/recordings/${bad.id}/upload`])
      expect(kept.filter((path) => path.endsWith(name))).toHaveLength(1);
    expect(await inspectJobs(join(dataDir, 'jobs'))).toMatchObject({ jobs: 1, setAside: 1 });
    const lines = service.log.filter(({ level }) => level >= 40);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the database of the transcription jobs cannot be read and is set aside',
    ]);
  });

  test.each<readonly [string, (path: string) => unknown]>([
    ['is gone', (path) => rm(dirname(path), { recursive: true })],
    ['has become shorter', (path) => truncate(path, 16_000)],
    ['is a directory', replacedBy((path) => mkdir(path))],
  ])('a job whose recording %s fails, and the others continue', async (_what, spoil) => {
    const dataDir = await temporaryDirectory();
    const { good, bad } = await brokenOff(dataDir);
    await spoil(join(dataDir, 'jobs/recordings', bad.id, 'upload'));
    await using service = await start(dataDir);
    expect((await end(service, good.id)).status).toBe('completed');
    const { status, problem } = await end(service, bad.id);
    expect({ status, code: problem?.code }).toEqual({ status: 'failed', code: 'recording-undecodable' });
    expect((await remove(service, bad.id)).status).toBe(204);
  });

  test('a job that ended a month ahead of the clock is kept', async () => {
    const dataDir = await temporaryDirectory();
    const { id } = await overIn(dataDir);
    const later = `json_set(record, '$.endedAt', record ->> 'endedAt' + ${30 * 86_400_000})`;
    change(join(dataDir, 'jobs/jobs.sqlite'), `UPDATE jobs SET record = ${later}`);
    await using service = await start(dataDir);
    expect((await read(service, id)).result?.text).toBe(textOf(4));
  });

  test('a job of open mode continues when keys were added, and no key can read it', async () => {
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
      const recording = () => readdir(join(dataDir, 'jobs/recordings', id));
      await expect.poll(recording, { timeout: 20_000 }).toEqual([]);
      await expect(read(service, id, { authorization: 'Bearer one' })).rejects.toThrow(/^404 /);
    }
    await using service = await start(dataDir);
    expect((await read(service, id)).result?.text).toBe(textOf(20));
  });

  test('a job of API_KEYS continues when another key is removed, whose transcript no one can read', async () => {
    const dataDir = await temporaryDirectory();
    const [one, two] = ['one', 'two'].map((token) => ({ authorization: `Bearer ${token}` }));
    using held = holdPart(3);
    let over: string;
    let running: string;
    {
      await using service = await start(dataDir, { env: { API_KEYS: 'one,two' } });
      over = (await create(service, speechOf(4), {}, one)).id;
      expect((await end(service, over, one)).status).toBe('completed');
      running = (await create(service, speechOf(20), {}, two)).id;
      await held.reached;
    }
    await using service = await start(dataDir, { env: { API_KEYS: 'two' } });
    await expect(read(service, over, two)).rejects.toThrow(/^404 /);
    expect((await end(service, running, two)).result?.text).toBe(textOf(20));
  });

  test('a job whose key is gone fails, and no one sees it', async () => {
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

/** The tables are in the log of changes, which is gone. */
async function withoutLog(path: string): Promise<void> {
  await rm(path);
  const database = openDatabase(path);
  database.exec('PRAGMA journal_mode = WAL');
  await copyFile(path, `${path}.copy`);
  database.close();
  await rename(`${path}.copy`, path);
}

/** Puts something else in its place. */
function replacedBy(make: (path: string) => unknown) {
  return async (path: string) => {
    await rm(path);
    await make(path);
  };
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

  test('the first gives its jobs up after its database was removed, and the second takes over', async () => {
    const dataDir = await temporaryDirectory();
    using held = holdPart(2);
    await using first = await start(dataDir);
    const { id } = await create(first, speechOf(16));
    await held.reached;
    await rm(join(dataDir, 'jobs/jobs.sqlite'));
    await using second = await start(dataDir);
    expect(await setAsideIn(dataDir)).toContain(`recordings/${id}/upload`);
    await expect(read(first, id)).rejects.toThrow(/^503 .*Another service/);
    await held.stopped;
    await expect(read(second, id)).rejects.toThrow(/^404 /);
    expect((await end(second, (await create(second, speechOf(4))).id)).status).toBe('completed');
  });
});

test('the recordings are set aside when the database is removed at run time', async () => {
  const dataDir = await temporaryDirectory();
  using held = holdPart(2);
  await using service = await start(dataDir);
  const running = await create(service, speechOf(16));
  const waiting = await create(service, speechOf(4));
  await held.reached;
  await rm(join(dataDir, 'jobs/jobs.sqlite'));
  for (const { id } of [running, waiting]) await expect(read(service, id)).rejects.toThrow(/^404 /);
  expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
  const recordings = [running, waiting].map(({ id }) => `recordings/${id}/upload`);
  expect(await setAsideIn(dataDir)).toEqual(expect.arrayContaining(recordings));
});

test('an upload continues when the database is removed at run time', async () => {
  const dataDir = await temporaryDirectory();
  await using service = await start(dataDir);
  const folders = () => readdir(join(dataDir, 'jobs/recordings')).catch(() => []);
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
  await rm(join(dataDir, 'jobs/jobs.sqlite'));
  await expect(read(service, id)).rejects.toThrow(/^404 /); // makes a new one
  rest.resolve(undefined);
  expect((await accepted).status).toBe(202);
  expect((await end(service, id)).result?.text).toBe(textOf(8));
});

describe('a directory of the jobs that is removed at run time', () => {
  test('is made again, and jobs continue; those of before do not exist any more', async () => {
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
    expect(await readdir(join(dataDir, 'jobs/recordings'))).toEqual([id]);
  });

  test('keeps no later job of the same caller waiting behind the one that was running', async () => {
    const dataDir = await temporaryDirectory();
    const reached = Promise.withResolvers<undefined>();
    const removed = Promise.withResolvers<undefined>();
    using _hook = hookEngine(() => {
      reached.resolve(undefined);
      return removed.promise;
    });
    await using service = await start(dataDir);
    const running = await create(service, speechOf(4));
    await reached.promise;
    await rm(join(dataDir, 'jobs'), { recursive: true });
    removed.resolve(undefined);
    const { id } = await create(service, speechOf(4));
    expect((await end(service, id)).status).toBe('completed');
    await expect(read(service, running.id)).rejects.toThrow(/^404 /);
  });
});

/** Files in the directory of the jobs that are none: opening one of these would wait for its other end, or follow it. */
import { execFile } from 'node:child_process';
import { lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { create, end, read, remove } from './support/jobs.ts';
import { speechOf, textOf, wordEngine } from './support/speech.ts';

const start = (dataDir: string): Promise<TestService> =>
  startTestService({ ...wordEngine, env: { TRANSCRIBE_MAX_SECONDS: '4', DATA_DIR: dataDir } });

const pipe = async (path: string) => promisify(execFile)('mkfifo', [path]);

/** A job that is over, and the folder of a service that has ended. */
async function jobOf(dataDir: string): Promise<{ readonly id: string; readonly folder: string }> {
  await using service = await start(dataDir);
  const { id } = await create(service, speechOf(8));
  await end(service, id);
  return { id, folder: join(dataDir, 'jobs', id) };
}

/** As before it was over. */
async function queueAgain(folder: string, bytes: number): Promise<void> {
  const path = join(folder, 'job.json');
  const record = JSON.parse(await readFile(path, 'utf8')) as object;
  const queued = { ...record, status: 'queued', durationMs: null, endedAt: null, bytes };
  await writeFile(path, JSON.stringify(queued));
}

test.each(['job.json', 'part-000000.json'])('a pipe in place of %s sets the job aside', async (name) => {
  const dataDir = await temporaryDirectory();
  const { id, folder } = await jobOf(dataDir);
  await rm(join(folder, name));
  await pipe(join(folder, name));
  await using service = await start(dataDir);
  await expect(read(service, id)).rejects.toThrow(/^404 /);
  expect((await end(service, (await create(service, speechOf(4))).id)).result?.text).toBe(textOf(4));
});

test('a symlink in place of a record is not followed', async () => {
  const dataDir = await temporaryDirectory();
  const { id, folder } = await jobOf(dataDir);
  await rename(join(folder, 'job.json'), join(dataDir, 'elsewhere.json'));
  await symlink(join(dataDir, 'elsewhere.json'), join(folder, 'job.json'));
  await using service = await start(dataDir);
  await expect(read(service, id)).rejects.toThrow(/^404 /);
});

test('a symlink in place of the folder of a job stays where it is, and nothing behind it is removed', async () => {
  const dataDir = await temporaryDirectory();
  const { id, folder } = await jobOf(dataDir);
  const elsewhere = join(dataDir, 'elsewhere');
  await rename(folder, elsewhere);
  await symlink(elsewhere, folder);
  await using service = await start(dataDir);
  expect((await remove(service, id)).status).toBe(404);
  expect((await lstat(join(elsewhere, 'job.json'))).isFile()).toBe(true);
});

test('a pipe in place of the recording fails the job, which can be removed', async () => {
  const dataDir = await temporaryDirectory();
  const { id, folder } = await jobOf(dataDir);
  await queueAgain(folder, 0);
  await pipe(join(folder, 'upload'));
  await using service = await start(dataDir);
  expect((await end(service, id)).problem).toMatchObject({ code: 'recording-undecodable' });
  expect((await remove(service, id)).status).toBe(204);
});

test.each([
  ['a pipe', pipe],
  ['a symlink', (path: string) => symlink('/etc/hostname', path)],
  ['a directory', (path: string) => mkdir(path)],
])('%s with the name of the draft of a record is replaced', async (_what, make) => {
  const dataDir = await temporaryDirectory();
  const { id, folder } = await jobOf(dataDir);
  await queueAgain(folder, speechOf(8).length);
  await writeFile(join(folder, 'upload'), speechOf(8));
  await make(join(folder, 'job.json.new'));
  await using service = await start(dataDir);
  expect((await end(service, id)).result?.text).toBe(textOf(8));
});

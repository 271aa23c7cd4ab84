/** Files of another user, which the service cannot move. The mock stands for that user: the tests may run as root. */
import { rmSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type { TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { create, end, read } from './support/jobs.ts';
import { brokenOff, change, start } from './support/restart.ts';
import { speechOf, textOf } from './support/speech.ts';

vi.mock('node:fs/promises', { spy: true });

/** Part of the paths that cannot be moved to another directory, as the directory of another user. */
let stuck: string | undefined;
/** Whether they cannot be renamed either. */
let isFixed = false;

beforeEach(async () => {
  [stuck, isFixed] = [undefined, false];
  const { rename } = await vi.importActual<typeof files>('node:fs/promises');
  vi.mocked(files.rename).mockImplementation((from, to) => {
    const moves = isFixed || dirname(String(from)) !== dirname(String(to));
    if (stuck === undefined || !moves || !String(from).includes(stuck)) return rename(from, to);
    return Promise.reject(Object.assign(new Error(`EACCES: rename '${String(from)}'`), { code: 'EACCES' }));
  });
});

const warningsOf = async ({ url }: TestService) =>
  ((await (await fetch(`${url}/readyz`)).json()) as { warnings?: string[] }).warnings;
const setAsideIn = (dataDir: string) => files.readdir(join(dataDir, 'jobs/set-aside')).catch(() => []);

const renamed = async (path: string) => {
  const names = await files.readdir(dirname(path));
  return names.filter((name) => name.startsWith(`${basename(path)}.`));
};

test.each([
  ['an unreadable job', (path: string, id: string) => change(path, `UPDATE jobs SET record = '{' WHERE id = '${id}'`)],
  ['a missing database', (path: string) => rmSync(path)],
])('the recording of %s is renamed and named, and jobs work', async (_what, spoil) => {
  const dataDir = await temporaryDirectory();
  const { bad } = await brokenOff(dataDir);
  stuck = bad.id;
  const path = join(dataDir, 'jobs/recordings', bad.id);
  spoil(join(dataDir, 'jobs/jobs.sqlite'), bad.id);
  for (const _start of ['first', 'second']) {
    await using service = await start(dataDir);
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
    const [name = ''] = await renamed(path);
    expect(await warningsOf(service)).toEqual([`DATA_DIR/jobs contains foreign files: recordings/${name}.`]);
    expect((await files.stat(join(dirname(path), name, 'upload'))).size).toBeGreaterThan(0);
  }
});

test('a recording that cannot be renamed either is left alone and named', async () => {
  const dataDir = await temporaryDirectory();
  const { good, bad } = await brokenOff(dataDir);
  [stuck, isFixed] = [bad.id, true];
  change(join(dataDir, 'jobs/jobs.sqlite'), `UPDATE jobs SET record = '{' WHERE id = '${bad.id}'`);
  await using service = await start(dataDir);
  expect((await end(service, good.id)).result?.text).toBe(textOf(20));
  expect(await warningsOf(service)).toEqual([`DATA_DIR/jobs contains foreign files: recordings/${bad.id}.`]);
  expect((await files.stat(join(dataDir, 'jobs/recordings', bad.id, 'upload'))).size).toBeGreaterThan(0);
});

test('a database that can be neither read nor moved refuses jobs and is named, and is tried again', async () => {
  const dataDir = await temporaryDirectory();
  const { bad } = await brokenOff(dataDir);
  await files.writeFile(join(dataDir, 'jobs/jobs.sqlite'), 'not a database '.repeat(500));
  [stuck, isFixed] = ['jobs.sqlite', true];
  const reason = 'The directory of the transcriptions cannot be used: jobs.sqlite can neither be read nor moved.';
  await using service = await start(dataDir, { jobOwnerMs: 20 });
  await expect(create(service, speechOf(4))).rejects.toThrow(reason);
  const attempts = () => vi.mocked(files.rename).mock.calls.length;
  const before = attempts();
  await expect.poll(attempts).toBeGreaterThan(before + 2);
  expect(await warningsOf(service)).toEqual([reason]);
  expect((await setAsideIn(dataDir)).length).toBeLessThan(2); // that of the attempt at this moment
  expect(service.log.filter(({ msg }) => msg === 'transcription jobs are unavailable')).toHaveLength(1);
  stuck = undefined;
  await expect.poll(() => create(service, speechOf(4)).catch(() => undefined)).toBeDefined();
  await expect(read(service, bad.id)).rejects.toThrow(/^404 /);
  expect(await files.readdir(join(dataDir, 'jobs/set-aside'), { recursive: true })).toContainEqual(
    expect.stringMatching(`/recordings/${bad.id}/upload$`),
  );
});

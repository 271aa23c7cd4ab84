/** Rows that cannot be read, and files of others: each costs one job at most. */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inspectJobs } from '../../src/jobs/directory.ts';
import type { TestService } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { create, end, eventsOf, read, remove } from './support/jobs.ts';
import { allOverIn, brokenOff, change, setAsideIn, start } from './support/restart.ts';
import { speechOf, textOf } from './support/speech.ts';

const databaseOf = (dataDir: string) => join(dataDir, 'jobs/jobs.sqlite');
const readyz = async ({ url }: TestService) => (await fetch(`${url}/readyz`)).json();
const errorsOf = ({ log }: TestService) => log.filter(({ level }) => level >= 40).map(({ msg }) => msg);

describe('a record', () => {
  const records = [
    ['is not an object', `'[]'`],
    ['is not JSON', `'{'`],
    ['is that of another job', `json_set(record, '$.id', 'another')`],
    ['was created after the last day', `json_set(record, '$.createdAt', 1e17)`],
    ['was created before the first', `json_set(record, '$.createdAt', -1e17)`],
    ['is over, and has no end', `json_set(record, '$.status', 'completed')`],
    ['has an unknown status', `json_set(record, '$.status', 'lost')`],
    ['has no caller', `json_remove(record, '$.caller')`],
    ['has a field that is no text', `json_set(record, '$.fields.timestamps', 1)`],
    ['has more bytes than any recording', `json_set(record, '$.bytes', 1e300)`],
    ['has a length that is no number', `json_set(record, '$.durationMs', 'long')`],
    [
      'has failed with an invalid problem',
      `json_set(record, '$.status', 'failed', '$.endedAt', 0, '$.problem', json('{}'))`,
    ],
    ['has half of a span', `json_set(record, '$.spans', json('[[0, 1]]'))`],
    [
      'has a reference elsewhere',
      `json_set(record, '$.known', json('[{"name":"Ada","file":"../x.decoded.wav","endMs":1}]'))`,
    ],
  ] as const;

  // A caller has eight jobs at most.
  test.each([
    ['the first half', records.slice(0, 7)],
    ['the others', records.slice(7)],
  ])('that cannot be read costs its job, which is set aside: %s', async (_which, broken) => {
    const dataDir = await temporaryDirectory();
    const { good, others } = await brokenOff(dataDir, broken.length);
    for (const [index, [, record]] of broken.entries())
      change(databaseOf(dataDir), `UPDATE jobs SET record = ${record} WHERE id = '${others[index]!.id}'`);
    await using service = await start(dataDir);
    for (const [index, [what]] of broken.entries())
      await expect(read(service, others[index]!.id), what).rejects.toThrow(/^404 /);
    expect((await end(service, good.id)).result?.text).toBe(textOf(20));
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
    const kept = others.flatMap(({ id }) => ['job.json', `recordings/${id}/upload`]);
    expect(await setAsideIn(dataDir)).toEqual(kept.toSorted());
    expect(errorsOf(service)).toEqual(broken.map(() => 'a transcription job cannot be read and is set aside'));
  });

  test('whose id is a path removes nothing outside of the recordings', async () => {
    const dataDir = await temporaryDirectory();
    const { bad } = await brokenOff(dataDir);
    await writeFiles(dataDir, { 'models/large.bin': 'a model' });
    const id = '../../models';
    const record = `json_set(record, '$.id', '${id}', '$.status', 'completed', '$.endedAt', 0)`;
    change(databaseOf(dataDir), `UPDATE jobs SET id = '${id}', record = ${record} WHERE id = '${bad.id}'`);
    await using service = await start(dataDir, { env: { TRANSCRIBE_JOB_KEEP: '1' } });
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
    expect(await readFile(join(dataDir, 'models/large.bin'), 'utf8')).toBe('a model');
    expect(errorsOf(service)).toEqual(['a transcription job cannot be read and is set aside']);
  });
});

describe('a part', () => {
  const parts = [
    ['is not JSON', `'{'`],
    ['has no segments', `json_remove(part, '$.segments')`],
    ['has a segment without a text', `json_remove(part, '$.segments[0].text')`],
    ['begins elsewhere', `json_set(part, '$.startMs', 1)`],
    ['ends before its begin', `json_set(part, '$.endMs', -1)`],
  ] as const;

  test.each(parts)('that %s is repeated, and later jobs of the caller wait for it alone', async (_what, part) => {
    const dataDir = await temporaryDirectory();
    const { good, bad: later } = await brokenOff(dataDir);
    change(databaseOf(dataDir), `UPDATE parts SET part = ${part} WHERE job = '${good.id}'`);
    await using service = await start(dataDir);
    expect((await end(service, good.id)).result?.text).toBe(textOf(20));
    expect((await end(service, later.id)).result?.text).toBe(textOf(4));
    expect(errorsOf(service)).toEqual(['parts of a transcription job cannot be read and are removed']);
  });

  test('that cannot be read ends a job that was over with a problem', async () => {
    const dataDir = await temporaryDirectory();
    const jobs = await allOverIn(dataDir, parts.length);
    for (const [index, [, part]] of parts.entries())
      change(databaseOf(dataDir), `UPDATE parts SET part = ${part} WHERE job = '${jobs[index]!.id}'`);
    for (const _start of ['first', 'second']) {
      await using service = await start(dataDir);
      for (const [index, [what]] of parts.entries()) {
        const { status, problem, result } = await read(service, jobs[index]!.id);
        const seen = { status, code: problem?.code, result };
        expect(seen, what).toEqual({ status: 'failed', code: 'internal-error', result: null });
        expect((await eventsOf(service, jobs[index]!.id)).at(-1)?.type).toBe('transcription.failed');
      }
    }
    await using service = await start(dataDir);
    for (const { id } of jobs) expect((await remove(service, id)).status).toBe(204);
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
  });
});

describe('a file of others', () => {
  const foreign = (...names: string[]) => ({
    status: 'ready',
    warnings: [`DATA_DIR/jobs contains foreign files: ${names.join(', ')}.`],
  });
  const warned = 'foreign files in the directory of the transcription jobs';

  test.each<readonly [string, (path: string) => unknown]>([
    ['a file', (path) => writeFile(path, 'a file')],
    ['a symlink to nothing', (path) => symlink('/nonexistent', path)],
  ])('%s in the place of the recordings, or of what is set aside, is renamed, and jobs work', async (_what, make) => {
    const dataDir = await temporaryDirectory();
    await mkdir(join(dataDir, 'jobs'));
    for (const name of ['recordings', 'set-aside']) await make(join(dataDir, 'jobs', name));
    const { foreign: names } = await inspectJobs(join(dataDir, 'jobs'));
    expect(names).toEqual(['recordings', 'set-aside']);
    await using service = await start(dataDir);
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
    const renamed = (await readdir(join(dataDir, 'jobs'))).filter((name) => /\.\d+$/.test(name)).toSorted();
    expect(renamed.map((name) => name.replace(/\d+$/, ''))).toEqual(['recordings.', 'set-aside.']);
    expect(await readyz(service)).toEqual(foreign(...renamed));
    expect((await inspectJobs(join(dataDir, 'jobs'))).foreign).toEqual(renamed);
    expect(errorsOf(service)).toEqual([warned]);
  });

  test('that is elsewhere is left alone, and named', async () => {
    const dataDir = await temporaryDirectory();
    await writeFiles(join(dataDir, 'jobs'), { 'notes.txt': 'mine', 'recordings/holiday/upload': 'mine' });
    const names = ['notes.txt', 'recordings/holiday'];
    await using service = await start(dataDir);
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
    expect(await readyz(service)).toEqual(foreign(...names));
    expect(await inspectJobs(join(dataDir, 'jobs'))).toMatchObject({ jobs: 1, foreign: names, obstacle: undefined });
    expect(await readFile(join(dataDir, 'jobs/recordings/holiday/upload'), 'utf8')).toBe('mine');
    expect(errorsOf(service)).toEqual([warned]);
  });

  test('in the place of the whole directory refuses jobs alone, and is named, until it is gone', async () => {
    const dataDir = await temporaryDirectory();
    await writeFile(join(dataDir, 'jobs'), 'a file');
    const reason = 'The directory of the transcriptions cannot be used: ENOTDIR (recordings).';
    await using service = await start(dataDir, { jobOwnerMs: 20 });
    await expect(create(service, speechOf(4))).rejects.toThrow(reason);
    expect((await service.api('/transcribe')).status).toBe(200);
    expect(await readyz(service)).toEqual({ status: 'ready', warnings: [reason] });
    expect((await inspectJobs(join(dataDir, 'jobs'))).obstacle).toBe('ENOTDIR (recordings)');
    await rm(join(dataDir, 'jobs'));
    await expect.poll(() => create(service, speechOf(4)).catch(() => undefined)).toBeDefined();
    expect(await readyz(service)).toEqual({ status: 'ready' });
  });
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquireLock, isLocked } from '../../../../engines/lib/download/lock.ts';
import { recordingLog, temporaryDirectory } from '../../whisper-cli/support.ts';

const signal = new AbortController().signal;
const lockModule = new URL('../../../../engines/lib/download/lock.ts', import.meta.url).href;

async function lockFile(holder?: object): Promise<string> {
  const path = join(await temporaryDirectory(), 'some.lock');
  if (holder !== undefined) await writeFile(path, JSON.stringify(holder));
  return path;
}

test('a lock is exclusive until it is released, also within one process', async () => {
  const path = await lockFile();
  let working = 0;
  const work = async () => {
    await using _lock = await acquireLock(path, { signal, log: recordingLog() });
    working += 1;
    await readFile(path);
    expect(working).toBe(1);
    working -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, work));
  expect(await readdir(dirname(path))).toEqual([]);
});

test('the lock of another process is held while that process is alive, and no longer', async () => {
  const path = await lockFile();
  const script = `
    import { acquireLock } from '${lockModule}';
    const ignore = () => {};
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    await acquireLock(process.argv[1], { signal: new AbortController().signal, log });
    console.log('mine');
    setInterval(ignore, 60_000);`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  const log = recordingLog();
  const lock = acquireLock(path, { signal, log });
  await log.logged(({ message }) => message.includes('waiting'));
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: other.pid });
  other.kill('SIGKILL');
  await using _lock = await lock;
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
});

test('a lock with our pid and an unknown id belongs to an earlier process', async () => {
  const path = await lockFile({ id: 'before the restart', pid: process.pid, host: hostname() });
  await using _lock = await acquireLock(path, { signal, log: recordingLog() });
  expect(await readFile(path, 'utf8')).not.toContain('before the restart');
});

test.for([
  ['another host', JSON.stringify({ id: 'x', pid: process.pid, host: 'another-host' })],
  ['a process that died while writing it', ''],
])('an untouched lock of %s becomes stale', async ([, text = '']) => {
  const path = await lockFile();
  await writeFile(path, text);
  await using _lock = await acquireLock(path, { signal, log: recordingLog(), staleAfterMs: 50 });
  expect(await readFile(path, 'utf8')).toContain(`"pid":${process.pid}`);
});

test('an abort ends the wait', async () => {
  const path = await lockFile({ id: 'x', pid: process.ppid, host: hostname() });
  const controller = new AbortController();
  const log = recordingLog();
  void log.logged(({ message }) => message.includes('waiting')).then(() => controller.abort(new Error('enough')));
  await expect(acquireLock(path, { signal: controller.signal, log })).rejects.toThrow('enough');
  expect(await readFile(path, 'utf8')).toContain('"id":"x"');
});

test.each([
  ['a pipe', (path: string) => Promise.resolve(execFileSync('mkfifo', [path]))],
  ['a broken symlink', (path: string) => symlink('/nowhere', path)],
  ['a directory', (path: string) => mkdir(path)],
])('%s in place of a lock becomes stale, and blocks nobody', async (_what, make) => {
  const path = await lockFile();
  await make(path);
  expect(await isLocked(path)).toBe(true);
  await using _lock = await acquireLock(path, { signal, log: recordingLog(), staleAfterMs: 20 });
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquireLock, isLocked, lockOf, tryLock } from '../../lib/file-lock.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const { signal } = new AbortController();
const lockModule = new URL('../../lib/file-lock.ts', import.meta.url).href;

const somePath = async (): Promise<string> => lockOf(join(await temporaryDirectory(), 'some'));

/** Another process; `held` resolves when the script prints something. */
function other(script: string, path: string) {
  const source = `import { acquireLock, isLocked, tryLock } from '${lockModule}'; const [, path] = process.argv;
    const { signal } = new AbortController(); ${script}; setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, said: once(child.stdout, 'data').then(([text]) => String(text).trim()) };
}

async function listen(path: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(path), 'listening');
}

const sharing = "console.log((await tryLock(path, 'shared')) ? 'shared' : 'refused')";
const owning = "await acquireLock(path, { signal, onWait: () => console.log('waits') }); console.log('owns')";

test('it is exclusive until it is released, also within one process', async () => {
  const path = await somePath();
  let working = 0;
  const work = async () => {
    using _lock = await acquireLock(path, { signal });
    working += 1;
    await Promise.resolve();
    expect(working).toBe(1);
    expect([isLocked(path), await tryLock(path, 'exclusive'), await tryLock(path, 'shared')]).toEqual([true, undefined, undefined]); // prettier-ignore
    working -= 1;
  };
  expect(isLocked(path)).toBe(false);
  await Promise.all([work(), work(), work()]);
  expect(isLocked(path)).toBe(false);
});

test('several processes share it; who wants it alone waits for them, and lets no one else in', async () => {
  const path = await somePath();
  const first = other(sharing, path);
  expect(await first.said).toBe('shared');
  using _second = await tryLock(path, 'shared');
  expect([isLocked(path), await tryLock(path, 'exclusive')]).toEqual([false, undefined]);
  const owner = other(owning, path);
  expect(await owner.said).toBe('waits');
  expect(isLocked(path)).toBe(true);
  expect(await other(sharing, path).said).toBe('refused');
});

test('the lock of a process that is killed is free at once', async () => {
  const path = await somePath();
  const { child, said } = other(owning, path);
  expect(await said).toBe('owns');
  const waits = Promise.withResolvers<undefined>();
  const lock = acquireLock(path, { signal, onWait: () => waits.resolve(undefined) });
  await waits.promise;
  child.kill('SIGKILL');
  using _lock = await lock;
  expect(isLocked(path)).toBe(true);
});

test('an abort ends the wait, and nothing is left of it', async () => {
  const path = await somePath();
  const user = await tryLock(path, 'shared');
  const controller = new AbortController();
  const onWait = () => controller.abort(new Error('enough'));
  await expect(acquireLock(path, { signal: controller.signal, onWait })).rejects.toThrow('enough');
  expect(isLocked(path)).toBe(false);
  user?.[Symbol.dispose]();
});

test.each([
  ['a pipe', (path: string) => Promise.resolve(execFileSync('mkfifo', [path]))],
  ['a broken symlink', (path: string) => symlink('/nowhere', path)],
  ['a directory', (path: string) => mkdir(path)],
  ['the text of another program', (path: string) => writeFile(path, 'not a database '.repeat(500))],
  ['half a database', (path: string) => writeFile(path, 'SQLite format 3\0\x10\0')],
])('%s in its place is moved away or emptied, and blocks no one', async (_what, make) => {
  const path = await somePath();
  await mkdir(dirname(path));
  await make(path);
  using _lock = await acquireLock(path, { signal });
  expect(isLocked(path)).toBe(true);
});

const kinds: Readonly<Record<string, (path: string) => unknown>> = {
  'a directory': (path) => mkdir(path),
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a symlink': (path) => symlink('/dev/zero', path),
  'a symlink to itself': (path) => symlink(path, path),
  'a socket': (path) => listen(path),
};

/** In another process, because SQLite waits for the other end of a FIFO and blocks the process meanwhile. */
test('what is no file in the place of a lock or of a file beside it is no lock, and blocks no one', async () => {
  const directory = await temporaryDirectory();
  const paths: string[] = [];
  for (const [name, make] of Object.entries(kinds)) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) {
      const path = lockOf(join(directory, name + suffix, 'some'));
      if (suffix === '') await mkdir(dirname(path), { recursive: true });
      else (await tryLock(path, 'exclusive'))?.[Symbol.dispose]();
      await make(path + suffix);
      paths.push(path);
    }
  }
  const looking = `const found = [];
    for (const path of process.argv[1].split(',')) found.push(isLocked(path), Boolean(await tryLock(path, 'exclusive')));
    console.log(found.join())`;
  expect(await other(looking, paths.join()).said).toBe(paths.map(() => 'false,true').join());
});

test('where nothing can be written, it rejects', async () => {
  await expect(tryLock('/proc/.locks/some', 'shared')).rejects.toThrow('/proc');
});

import { chmod, chown, mkdir, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createWorkspace } from '../../src/system/workspace.ts';
import { startNode } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const modulePath = resolve(import.meta.dirname, '../../src/system/workspace.ts');

let root: string;

beforeEach(async () => {
  root = await temporaryDirectory();
});

/** A process that makes a workspace with a file in it, tells its path, and then does what it is told to do. */
function startOwner(then: string, before: readonly string[] = []) {
  const source = `
    import { writeFileSync } from 'node:fs';
    import { createWorkspace } from ${JSON.stringify(modulePath)};
    const workspace = await createWorkspace(process.argv[1]);
    const directory = await workspace.directory('request');
    writeFileSync(directory.path + '/recording', 'sound');
    console.log(workspace.path);
    ${then}`;
  return startNode(source, [root], before);
}
const stay = 'setInterval(() => {}, 1000);';

/** What a start finds and leaves. */
async function startAndEnd(): Promise<string[]> {
  using _workspace = await createWorkspace(root);
  return (await readdir(root)).filter((name) => join(root, name) !== _workspace.path);
}

/** A directory as a process with this identity would have left it. */
async function leave(namespace: string, pid: number, start: string, { ageMs = 0 } = {}): Promise<string> {
  const name = `parlance-${namespace}-${pid}-${start}-1`;
  await mkdir(join(root, name, 'request-x'), { recursive: true });
  await writeFile(join(root, name, 'request-x', 'recording'), 'sound');
  const changed = new Date(Date.now() - ageMs);
  await utimes(join(root, name), changed, changed);
  return name;
}

const hourMs = 3_600_000;
const ownNamespace = async () => /\d+/.exec(await readlink('/proc/self/ns/pid'))![0];

describe('a workspace', () => {
  it('is private, and so are the directories in it', async () => {
    using workspace = await createWorkspace(join(root, 'made/on/the/way'));
    await using directory = await workspace.directory('request');
    for (const path of [workspace.path, directory.path]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect(directory.path.startsWith(`${workspace.path}/request-`)).toBe(true);
  });

  it('creates a unique directory per call, removed with its contents', async () => {
    using workspace = await createWorkspace(root);
    const directories = await Promise.all(Array.from({ length: 20 }, () => workspace.directory('request')));
    expect(new Set(directories.map(({ path }) => path)).size).toBe(20);
    for (const directory of directories) {
      await mkdir(join(directory.path, 'deep/er'), { recursive: true });
      await writeFile(join(directory.path, 'deep/er/recording'), 'sound');
      await directory[Symbol.asyncDispose]();
    }
    expect(await readdir(workspace.path)).toEqual([]);
  });

  it('is removed on disposal, but not others of the same process', async () => {
    using other = await createWorkspace(root);
    const workspace = await createWorkspace(root);
    expect(workspace.path).not.toBe(other.path);
    await workspace.directory('request');
    workspace[Symbol.dispose]();
    expect(existsSync(workspace.path)).toBe(false);
    expect(existsSync(other.path)).toBe(true);
    await expect(workspace.directory('late')).rejects.toThrow('ENOENT');
    expect(existsSync(workspace.path)).toBe(false);
  });

  it('recovers when it has been removed', async () => {
    using workspace = await createWorkspace(root);
    await rm(workspace.path, { recursive: true });
    await using directory = await workspace.directory('request');
    await writeFile(join(directory.path, 'recording'), 'sound');
    expect((await stat(workspace.path)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['ends by itself', ''],
    ['calls process.exit', 'process.exit(3);'],
    ['throws', "throw new Error('boom');"],
  ])('goes with its process when that %s', async (_how, then) => {
    const owner = startOwner(then);
    expect(await owner.firstLine).toContain(root);
    await owner.ended;
    expect(await readdir(root)).toEqual([]);
  });
});

describe('startup removes', () => {
  it('the directory of a killed process', async () => {
    const owner = startOwner(stay);
    const path = await owner.firstLine;
    owner.child.kill('SIGKILL');
    await owner.ended;
    expect(existsSync(path)).toBe(true);
    expect(await startAndEnd()).toEqual([]);
  });

  it('the directory of a dead process with a reused pid', async () => {
    await leave(await ownNamespace(), process.pid, '1');
    await leave(await ownNamespace(), process.ppid, 'gone');
    expect(await startAndEnd()).toEqual([]);
  });

  it('the directory of another container, unchanged for more than a day', async () => {
    await leave('1', 1, '1', { ageMs: 25 * hourMs });
    expect(await startAndEnd()).toEqual([]);
  });
});

describe('startup keeps', () => {
  it('the directory of a living process', async () => {
    const owner = startOwner(stay);
    const path = await owner.firstLine;
    expect(await startAndEnd()).toEqual([path.slice(root.length + 1)]);
    expect(await readdir(path)).toHaveLength(1);
    expect(owner.child.exitCode).toBeNull();
  });

  it('the directory of a living process that was idle for days', async () => {
    const owner = startOwner(stay);
    const path = await owner.firstLine;
    const longAgo = new Date(Date.now() - 72 * hourMs);
    await utimes(path, longAgo, longAgo);
    expect(await startAndEnd()).toHaveLength(1);
  });

  it('the directory of another container, changed within a day', async () => {
    const name = await leave('1', process.pid, '1', { ageMs: 23 * hourMs });
    expect(await startAndEnd()).toEqual([name]);
  });

  it('other names', async () => {
    const others = ['parlance', 'parlance-test-x1', 'parlance-1-2-3', 'parlance-1-x-3-4', 'a-parlance-1-2-3-4'];
    for (const name of others) await mkdir(join(root, name));
    await writeFile(join(root, 'parlance.txt'), '');
    expect((await startAndEnd()).toSorted()).toEqual([...others, 'parlance.txt'].toSorted());
  });

  it.runIf(process.getuid?.() === 0)('the directory of another user, and starts anyway', async () => {
    const name = await leave(await ownNamespace(), process.pid, '1');
    await writeFile(join(root, name, 'recording'), '');
    await chmod(join(root, name), 0o700);
    await chown(join(root, name), 65_534, 65_534);
    // Root without its powers over other users' files: another user could not read this checkout everywhere.
    const asOrdinaryUser = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search,-fowner', '--'];
    const owner = startOwner(stay, asOrdinaryUser);
    const path = await owner.firstLine;
    expect((await readdir(root)).toSorted()).toEqual([name, path.slice(root.length + 1)].toSorted());
  });
});

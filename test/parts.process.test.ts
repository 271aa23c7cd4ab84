/** Which files a push has changed, in real repositories. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles } from './parts.ts';
import { describeWith, run } from './support/programs.ts';
import { temporaryDirectory, writeFiles } from './support/temporary.ts';

describeWith(['git'], 'the files that a push has changed', () => {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];

  /** A repository whose main has one commit, and a clone of it. */
  async function cloned(...options: string[]) {
    const directory = await temporaryDirectory();
    const [origin, clone] = [join(directory, 'origin'), join(directory, 'clone')] as const;
    const git = (folder: string, ...args: string[]) => run('git', ['-C', folder, ...identity, ...args]);
    const commit = async (folder: string, files: Readonly<Record<string, string>>) => {
      await writeFiles(folder, files);
      await git(folder, 'add', '--all');
      await git(folder, 'commit', '--quiet', '--message', 'change');
    };
    await run('git', ['init', '--quiet', '--initial-branch', 'main', origin]);
    await commit(origin, { 'a.ts': '1', 'b.ts': '1' });
    await commit(origin, { 'b.ts': '2' });
    await run('git', ['clone', '--quiet', ...options, `file://${origin}`, clone]);
    return { origin, clone, git, commit: (files: Readonly<Record<string, string>>) => commit(clone, files) };
  }

  test('are those since it left origin/main, removed, renamed, uncommitted and new ones included', async () => {
    const { origin, clone, git, commit } = await cloned();
    await commit({ 'c.ts': '3' });
    await git(clone, 'mv', 'a.ts', 'moved.ts');
    await git(clone, 'commit', '--quiet', '--message', 'move');
    await rm(join(clone, 'b.ts'));
    await writeFiles(clone, { 'new.ts': '' });
    await writeFiles(origin, { 'later.ts': '' });
    await git(origin, 'add', '--all');
    await git(origin, 'commit', '--quiet', '--message', 'later');
    await git(clone, 'fetch', '--quiet');
    expect(changedFiles(clone)).toEqual(['a.ts', 'b.ts', 'c.ts', 'moved.ts', 'new.ts']);
  });

  test('are unknown on origin/main itself', async () => {
    const { clone } = await cloned();
    expect(changedFiles(clone)).toEqual({ unknown: 'HEAD is origin/main itself' });
  });

  test('are unknown in a shallow clone that does not reach the merge base, and without a remote', async () => {
    const { clone, git, commit } = await cloned('--depth', '1');
    await commit({ 'c.ts': '3' });
    await git(clone, 'update-ref', '-d', 'refs/remotes/origin/main');
    const unknown = 'the merge base with origin/main is unknown';
    expect(changedFiles(clone)).toEqual({ unknown });
    await git(clone, 'remote', 'remove', 'origin');
    expect(changedFiles(clone)).toEqual({ unknown });
  });
});

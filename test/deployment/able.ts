/**
 * Tests that need more of a machine than even CI promises: containers and a booted systemd. Each asks first whether this
 * machine can do that at all, with something that has nothing of ours in it. Where it cannot, the tests are skipped, on
 * CI too: the only exception from its rule that a skipped test is a failure. The reason is printed where no one misses it.
 */
import { cp, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { findProgram, run } from '../support/programs.ts';

/** A `describe` whose tests are skipped, loudly, when there is an obstacle. */
export function describeWhere(obstacle: string | undefined, title: string, body: () => void): void {
  describe(title, () => {
    if (obstacle === undefined) return body();
    const line = '!'.repeat(100);
    console.warn(`${line}\nNOT TESTED: ${title}. This machine cannot: ${obstacle}\n${line}`);
    test(obstacle, ({ skip }) => skip(obstacle));
  });
}

/** What keeps this machine from something; undefined if it can do it. */
export async function obstacleTo(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return (error as Error).message.trim().slice(0, 2_000);
  }
}

export function needPrograms(...names: readonly string[]): void {
  const missing = names.filter((name) => !findProgram(name));
  if (missing.length > 0) throw new Error(`these programs are missing: ${missing.join(', ')}`);
  if (process.getuid?.() !== 0) throw new Error('only root may');
}

/**
 * How containers are run. The last three are for machines like CI: hybrid cgroups, no network of containers, and no right
 * to raise limits.
 */
export const restrictions = [
  ...['--read-only', '--tmpfs=/tmp', '--cap-drop=all', '--security-opt=no-new-privileges'],
  ...['--network=host', '--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'],
];

/** What the image of the tests takes on the disk while it is built, generously. */
const diskBytes = 4e9;

export async function hasImage(name: string): Promise<boolean> {
  return run('podman', ['image', 'exists', name]).then(
    () => true,
    () => false,
  );
}

/** Builds an image that consists of a program with its libraries, at `path`. */
export async function buildScratchImage(image: string, program: string, path = program, lines = ''): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-scratch-'));
  try {
    const libraries = (await run('ldd', [program])).match(/\/\S+/g) ?? [];
    for (const library of libraries) await cp(library, join(directory, 'files', library), { dereference: true });
    await cp(program, join(directory, 'files', path), { dereference: true });
    await writeFile(join(directory, 'Containerfile'), `FROM scratch\nCOPY files /\n${lines}`);
    await run('buildah', ['bud', '--quiet', '--isolation=chroot', '--tag', image, directory]);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Builds an image that consists of `true`, as the tests build ours, and removes it after its use. */
export async function withScratchImage(use: (image: string, program: string) => Promise<unknown>): Promise<void> {
  needPrograms('buildah', 'podman', 'runc', 'unshare', 'ldd');
  const image = `localhost/parlance-scratch-${process.pid}`;
  const program = '/usr/bin/true';
  await buildScratchImage(image, program, program, `RUN ["${program}"]\n`);
  await use(image, program);
  await run('podman', ['rmi', '--force', image]);
}

/** Runs a program of another as the tests run ours. */
export async function tryContainers(): Promise<void> {
  await run('unshare', ['--mount', 'true']);
  const { bavail, bsize } = await statfs(homedir());
  if (bavail * bsize < diskBytes) throw new Error(`${diskBytes / 1e9} GB of disk are not free`);
  await withScratchImage(async (image, program) => {
    const id = (await run('podman', ['--runtime=runc', 'run', '--detach', ...restrictions, image, program])).trim();
    const code = (await run('podman', ['wait', id])).trim();
    await run('podman', ['logs', id]);
    await run('podman', ['--runtime=runc', 'rm', id]);
    if (code !== '0') throw new Error(`a container with nothing of ours ended with ${code}`);
  });
}

/**
 * What in the types of the package breaks yesterday's programs: the examples of an earlier commit, and the consumers of its
 * package test. They compile against the declarations of the working directory, as a project that has installed them.
 */
import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const consumers = 'test/fixtures/consumers/package';

/** The consumers' own options for each; neither has types of the other's world. */
const projects = {
  'tsconfig.node.json': { include: ['examples'], exclude: ['examples/browser'] },
  'tsconfig.page.json': { include: ['examples/browser'], exclude: [] },
};

/** Writes the package of `home` with the programs of a commit into an empty directory. */
export async function writePrograms(commit: string, home: string, directory: string): Promise<void> {
  const archive = execFileSync('git', ['archive', commit, 'examples', consumers], { cwd: home, maxBuffer: 2 ** 26 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  // The programs import the package by its name, which is that of the directory itself.
  await cp(join(home, 'package.json'), join(directory, 'package.json'));
  await symlink(join(home, 'node_modules'), join(directory, 'node_modules'));
  await mkdir(join(directory, 'dist'));
  await symlink(join(home, 'generated'), join(directory, 'dist/generated'));
  for (const [name, files] of Object.entries(projects))
    await writeFile(join(directory, name), JSON.stringify({ extends: `./${consumers}/${name}`, ...files }));
  // The check of the package's own types reports its errors.
  await compile(home, '-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', join(directory, 'dist'));
}

/** A line for each error in the directory that `writePrograms` has written. */
export async function findTypeBreaks(directory: string): Promise<string[]> {
  return (await Promise.all(Object.keys(projects).map((name) => compile(directory, '-p', name)))).flat();
}

const tsc = join(import.meta.dirname, '../../node_modules/@typescript/native/bin/tsc');

/** A line for each error: its place, and the innermost of its reasons. */
function compile(cwd: string, ...args: readonly string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [tsc, ...args], { cwd, timeout: 600_000 }, (error, stdout, stderr) => {
      const errors = stdout.split(/\n(?! )/).filter((text) => text.includes('error TS'));
      if (error && errors.length === 0) reject(new Error(`tsc ${args.join(' ')} failed: ${stderr}`, { cause: error }));
      else resolve(errors.map((text) => text.replace(/(?<=error TS\d+: )[^]*\n +/, '')));
    });
  });
}

/**
 * The parts of the tests that a push may leave out, and the files that each depends on. `.ci/run` runs a part when one of
 * its files differs from the merge base with origin/main; `npm run test:nightly` runs all of them. A part is a set of
 * vitest projects or a command of its own, so that the run of all other tests stays whole and contract coverage is judged.
 */
import { execFileSync } from 'node:child_process';
import { matchesGlob } from 'node:path';

/** A part that `npm run test:nightly` runs; `script` is an npm script. */
export interface NightlyPart {
  readonly name: string;
  readonly script: string;
}

export interface Part extends NightlyPart {
  /** Globs; a change of one of these files runs the part. */
  readonly files: readonly string[];
}

export const parts: readonly Part[] = [
  {
    // The npm package, the bootstrap of a clone, what a fresh machine downloads and builds, and types made by Modelina.
    name: 'install',
    script: 'test:install',
    files: [
      'LICENSE',
      'NOTICE',
      'tsconfig*.json',
      'docs/guides/contract-testing.md',
      'examples/**',
      'lib/file-lock.ts',
      'lib/find-npm.ts',
      'lib/tool-environment.ts',
      'engines/contract/**',
      'engines/whisper-cli/**',
      'engines/lib/*.ts',
      'engines/lib/host-program/**',
      'engines/lib/sherpa/**',
      'engines/**/packages/**',
      'generated/*.json',
      'src/index.ts',
      'src/client/**',
      'src/sandbox/**',
      'src/conformance/**',
      'src/engine-host/registry/load-definition.ts',
      'src/engine-host/assets/**',
      'src/handlers/preparations.ts',
      'src/http/page.ts',
      'src/system/**',
      'test/package/**',
      'test/deployment/**',
      'test/docs/support/**',
      'test/engines/llama-local/**',
      'test/fixtures/consumers/**',
      'test/fixtures/programs/**',
      'test/programs/modelina/**',
      'test/**/*.install.test.ts',
    ],
  },
  {
    // The image, compose.yaml and the systemd unit.
    name: 'deploy',
    script: 'test:deploy',
    files: [
      '.dockerignore',
      'engines/**/packages/**',
      'engines/lib/host-program/**',
      'engines/lib/sherpa/**',
      'src/fleet/**',
      'src/open-app.ts',
      'src/service.ts',
      'src/settings/**',
      'src/start-worker.ts',
      'src/system/**',
      'test/deployment/**',
      'test/engines/llama-local/support.ts',
    ],
  },
  {
    // Tests of the interface, repeated against a front with a worker.
    name: 'fleet',
    script: 'test:fleet',
    files: [
      'docs/guides/contract-testing.md',
      'lib/json-lines.ts',
      'engines/contract/**',
      'engines/llama-local/**',
      'src/clips/**',
      'src/fleet/**',
      'src/jobs/**',
      'src/limits/**',
      'src/open-node.ts',
      'src/open-app.ts',
      'src/service.ts',
      'src/start-worker.ts',
      'src/settings/**',
      'src/realtime/**',
      'src/transcription/**',
      'test/api/**',
      'test/contract/**',
      'test/docs/support/**',
      'test/engines/llama-local/**',
      'test/fleet/**',
      'test/jobs/support/**',
      'test/keys/support/**',
      'test/openai/**',
      'test/sandbox/support.ts',
      'test/speech/**',
      'test/transcription/**',
    ],
  },
  {
    // The rows of the largest tables that a push leaves out.
    name: 'tables',
    script: 'test:tables',
    files: [
      'engines/espeak/**',
      'engines/whisper-cli/**',
      'engines/lib/**',
      'src/audio/**',
      'src/speech/**',
      'src/transcription/**',
      'test/audio/**',
      'test/engines/espeak/**',
      'test/engines/whisper-cli/**',
      'test/transcription/**',
      'test/**/*.table.test.ts',
    ],
  },
];

/** Too slow for a push: the image with whisper.cpp compiled for every processor, 15 minutes of processor time. */
export const nightlyOnly: readonly NightlyPart[] = [{ name: 'image', script: 'test:image' }];

/** A change of one of these files runs every part. */
export const everything: readonly string[] = [
  '**/package.json',
  '**/package-lock.json',
  '.ci/**',
  'deploy/**',
  'packages/**',
  'scripts/*.*',
  'scripts/node/**',
  'src/bin/**',
  'test/parts.ts',
  'test/run-parts.ts',
  'test/support/**',
  'vitest.config.ts',
];

export interface Choice {
  readonly part: Part;
  readonly runs: boolean;
  readonly reason: string;
}

/** The reason is a changed file, or why everything runs. */
export function choose(changed: readonly string[] | { readonly unknown: string }): Choice[] {
  const first = (files: readonly string[], patterns: readonly string[]) =>
    files.find((file) => patterns.some((pattern) => fits(file, pattern)));
  return parts.map((part) => {
    if ('unknown' in changed) return { part, runs: true, reason: changed.unknown };
    const file = first(changed, [...everything, ...part.files]);
    return file === undefined
      ? { part, runs: false, reason: 'none of its files differs from origin/main' }
      : { part, runs: true, reason: `${file} has changed` };
  });
}

/** `*` and `**` match names that begin with a dot, too. */
export function fits(file: string, pattern: string): boolean {
  const [path, glob] = [file, pattern].map((text) => text.replaceAll(/(?<=^|\/)\./g, '_')) as [string, string];
  return matchesGlob(path, glob);
}

/** The files that differ from the merge base with origin/main; unknown in a shallow clone, without it, and on it. */
export function changedFiles(home: string): readonly string[] | { readonly unknown: string } {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const base = git('merge-base', 'HEAD', 'origin/main').trim();
    if (base === git('rev-parse', 'HEAD').trim()) return { unknown: 'HEAD is origin/main itself' };
    // From the base to the files as they are, so that uncommitted changes count.
    const names = `${git('diff', '--name-only', '--no-renames', '-z', base)}${git('ls-files', '--others', '--exclude-standard', '-z')}`;
    return names.split('\0').filter((name) => name !== '');
  } catch {
    return { unknown: 'the merge base with origin/main is unknown' };
  }
}

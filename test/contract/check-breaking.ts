/**
 * Compares generated/openapi.json of the working directory with the one of the last release (a tag such as v1.2.3), and
 * fails on a break that the version in package.json does not announce. Says in one line what it has found.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findBreaks, mayBreak } from './breaking.ts';

const file = 'generated/openapi.json';

/** Undefined when git fails; it asks nobody for a password. */
function git(...args: readonly string[]): string | undefined {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
  const { status, stdout } = spawnSync('git', args, { env, encoding: 'utf8', timeout: 60_000, maxBuffer: 2 ** 26 });
  return status === 0 ? stdout.trim() : undefined;
}

const newest = (tags: string | undefined) => tags?.split('\n').find((tag) => tag !== '');

/** The last one on the way here; the highest where the history is missing, as in the shallow clones of CI. */
function lastTag(): string | undefined {
  const known = () =>
    git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*') ??
    newest(git('tag', '--list', 'v[0-9]*', '--sort=-v:refname'));
  return known() ?? (fetchTags() ? known() : undefined);
}

/** A clone may have been made without them. False when there is nowhere to fetch from. */
function fetchTags(): boolean {
  return (
    git('remote', 'get-url', 'origin') !== undefined &&
    git('fetch', '--quiet', '--tags', '--depth=1', 'origin') !== undefined
  );
}

async function check(): Promise<{ readonly ok: boolean; readonly said: string }> {
  const tag = lastTag();
  if (tag === undefined)
    return { ok: true, said: 'no release to compare with: neither here nor at origin is a tag v*' };
  const released = git('show', `${tag}:${file}`);
  if (released === undefined) return { ok: false, said: `${tag} has no ${file}, or the clone does not have ${tag}` };
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const breaks = await findBreaks(released, readFileSync(file, 'utf8'));
  if (breaks.length === 0) return { ok: true, said: `nothing breaks ${tag}` };
  const list = breaks.map((line) => `\n  ${line}`).join('');
  if (mayBreak(tag, version)) return { ok: true, said: `${version} may break ${tag}, and does:${list}` };
  const next = tag.startsWith('v0.') ? 'minor' : 'major';
  return { ok: false, said: `this breaks ${tag}; raise the ${next} version in package.json (now ${version}):${list}` };
}

const { ok, said } = await check();
console.log(said);
if (!ok) process.exitCode = 1;

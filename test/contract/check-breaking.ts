/**
 * Compares the generated documents and the types of the working directory with those of the last release (a tag such as
 * v1.2.3), or with a commit until there is one. Fails on a break without a reason in test/contract/baseline, on a line of
 * that file that matches none, and on a break of a release that the version in package.json does not announce.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTypeBreaks, writePrograms } from './breaking-types.ts';
import { findBreaks, mayBreak } from './breaking.ts';

const documents = [
  'openapi.json',
  'openapi-compat.json',
  'asyncapi-compat.json',
  'config.schema.json',
  'keys.schema.json',
];

const baseline = 'test/contract/baseline';

/** Undefined when git fails; it asks no one for a password. */
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
  return known() ?? (fetch('--tags', 'origin') ? known() : undefined);
}

/** False when there is nowhere to fetch from. A depth would make a shallow clone of a whole one. */
function fetch(...what: readonly string[]): boolean {
  const depth = git('rev-parse', '--is-shallow-repository') === 'true' ? ['--depth=1'] : [];
  return git('remote', 'get-url', 'origin') !== undefined && git('fetch', '--quiet', ...depth, ...what) !== undefined;
}

/** False for a shallow clone, as CI may have one, and for a copy without the commits before. */
const hasHistory = () => git('rev-parse', '--is-shallow-repository') === 'false' && idOf('HEAD~1') !== undefined;

const idOf = (revision: string) => git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`);

/** The commit of the first line, and each break that is intended with its reason. */
async function readBaseline() {
  const lines = (await readFile(baseline, 'utf8')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [commit = '', ...intended] = lines;
  const reasons = intended
    .map((line) => line.split(' because '))
    .map(([found = '', reason]) => [found, reason] as const);
  return { commit, intended: new Map(reasons) };
}

async function breaksSince(base: string): Promise<string[]> {
  const breaks: string[] = [];
  for (const name of documents) {
    const file = `generated/${name}`;
    const [before, after] = [git('show', `${base}:${file}`), (await readFile(file, 'utf8')).trim()];
    if (before === undefined) throw new Error(`${base} has no ${file}`);
    if (before !== after) breaks.push(...(await findBreaks(before, after)).map((line) => `${name}: ${line}`));
  }
  const directory = await mkdtemp(join(tmpdir(), 'parlance-programs-'));
  try {
    await writePrograms(base, process.cwd(), directory);
    return [...breaks, ...(await findTypeBreaks(directory)).map((line) => `types: ${line}`)];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const list = (lines: readonly string[]) => lines.map((line) => `\n  ${line}`).join('');

/** What is wrong, and what is well. */
async function check(): Promise<{ readonly problems: string[]; readonly said: string }> {
  const { commit, intended } = await readBaseline();
  const tag = lastTag();
  const base = tag ?? commit;
  if (idOf(base) === undefined && !fetch('origin', base)) {
    const missing = `the commit ${base} is missing, here and at origin`;
    if (hasHistory()) return { problems: [missing], said: '' };
    return { problems: [], said: `nothing is compared, because this clone has no history: ${missing}` };
  }
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const breaks = await breaksSince(base);
  const unknown = breaks.filter((line) => !intended.get(line));
  // The lines stay until the commit after the release, because the checks of the release itself run with its tag.
  const stale = idOf(base) === idOf('HEAD') ? [] : [...intended.keys()].filter((line) => !breaks.includes(line));
  const problems: string[] = [];
  if (unknown.length > 0)
    problems.push(
      `this breaks ${base}; fix it, or add the line with " because " and a reason to ${baseline}:${list(unknown)}`,
    );
  if (stale.length > 0)
    problems.push(`lines of ${baseline} that match no break since ${base}; remove them:${list(stale)}`);
  if (tag !== undefined && breaks.length > 0 && !mayBreak(tag, version))
    problems.push(
      `${version} must not break ${tag}; raise the ${tag.startsWith('v0.') ? 'minor' : 'major'} version in package.json`,
    );
  return {
    problems,
    said: breaks.length > 0 ? `intended breaks of ${base}:${list(breaks)}` : `nothing breaks ${base}`,
  };
}

const { problems, said } = await check();
console.log(problems.length > 0 ? problems.join('\n') : said);
if (problems.length > 0) process.exitCode = 1;

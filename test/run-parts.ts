/**
 * Runs the parts of the tests that a push may leave out (parts.ts), one after the other. Each prints one line with its
 * result and its time, and its whole output when it failed.
 *
 * `run-parts.ts --list`        the names of those that this change needs; what it leaves out, and why, goes to stderr
 * `run-parts.ts --nightly`     all
 * `run-parts.ts NAME...`       these
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { changedFiles, choose, nightlyOnly, parts, type NightlyPart } from './parts.ts';

const home = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);

const nightly = [...parts, ...nightlyOnly];
const named = nightly.filter(({ name }) => args.includes(name));

if (args[0] === '--list') list();
else if (args[0] === '--nightly') await runAll(nightly);
else if (named.length > 0 && named.length === args.length) await runAll(named);
else {
  console.error(`The parts are ${nightly.map(({ name }) => name).join(', ')}.`);
  process.exitCode = 2;
}

function list(): void {
  const choices = choose(changedFiles(home));
  for (const { part, runs, reason } of choices) {
    console.error(`${runs ? 'runs    ' : 'LEFT OUT'} ${part.name}: ${reason}`);
  }
  console.log(choices.flatMap(({ part, runs }) => (runs ? [part.name] : [])).join(' '));
}

async function runAll(chosen: readonly NightlyPart[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-parts-'));
  try {
    for (const part of chosen) await run(part, join(directory, part.name));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function run({ name, script }: NightlyPart, output: string): Promise<void> {
  const started = performance.now();
  const child = spawn('npm', ['run', script], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const log = createWriteStream(output);
  await Promise.all([child.stdout, child.stderr].map((stream) => pipeline(stream, log, { end: false })));
  const [status] = await ended;
  log.end();
  await once(log, 'close');
  const text = await readFile(output, 'utf8');
  const tests = /^.*Tests .*$/m.exec(stripVTControlCharacters(text))?.[0].trim() ?? '';
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    [status === 0 ? 'ok    ' : 'FAILED', name.padEnd(8), `${String(seconds).padStart(4)} s`, tests].join('  '),
  );
  if (status === 0) return;
  console.log(text);
  process.exitCode = 1;
}

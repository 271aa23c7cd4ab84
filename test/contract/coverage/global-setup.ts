/**
 * Contract coverage: each service that the tests start notes what it answers, and the contract may declare nothing that
 * no service has answered. Some answers are seen by process and system tests alone, so only a run that has both judges:
 *
 * - `npm run test:all` judges its own notes.
 * - `npm test` keeps its notes for the next run and judges nothing.
 * - `npm run test:system` judges its notes together with those that `npm test` has kept. They count only for the very
 *   same sources and tests (see fingerprint.ts); without them the run says so.
 *
 * A run of some of the tests says nothing about the contract: it neither judges nor keeps notes. With
 * CONTRACT_COVERAGE=required, as in CI, a run that has not judged fails.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { nativeContract, openaiContract } from '../../../src/contract/document.ts';
import { fingerprint } from './fingerprint.ts';
import { coverageOf, keepNotes, keptNotes, readNotes } from './report.ts';
import { directoryVariable, keptVariable } from './recorder.ts';

const home = join(import.meta.dirname, '../../..');

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env[directoryVariable] !== undefined) return undefined; // another project of this run has begun
  const directory = await mkdtemp(join(tmpdir(), 'parlance-coverage-'));
  process.env[directoryVariable] = directory;
  const print = await fingerprint(home);
  const kept = process.env[keptVariable] ?? join(home, 'node_modules/.cache/parlance/contract-notes.json');
  return async () => {
    const projects = project.vitest.projects.map(({ name }) => name);
    const hasAll = (...names: string[]) => names.every((name) => projects.includes(name));
    const [hasSystem, hasOthers] = [hasAll('process', 'system'), hasAll('unit', 'service', 'isolated')];
    const notes = (await isWhole(project)) ? readNotes(directory) : undefined;
    const others = notes && hasSystem && !hasOthers ? await keptNotes(kept, print) : undefined;
    if (notes && hasOthers && !hasSystem) await keepNotes(kept, print, notes);
    if (notes && hasSystem && (hasOthers || others)) judge(new Set([...notes, ...(others ?? [])]));
    else sayUnjudged({ isWhole: notes !== undefined, hasSystem, hasOthers });
    await rm(directory, { recursive: true, force: true });
  };
}

interface Unjudged {
  readonly isWhole: boolean;
  readonly hasSystem: boolean;
  readonly hasOthers: boolean;
}

function sayUnjudged({ isWhole, hasSystem, hasOthers }: Unjudged): void {
  if (isWhole && hasOthers) console.log('\nNot run: the system tests. Run them with: npm run test:system');
  const lacksNotes = isWhole && hasSystem;
  if (lacksNotes) console.log(`\n${unjudged}: npm test has not run whole on these sources. Run it first.`);
  if (process.env.CONTRACT_COVERAGE === 'required') {
    console.error(`\n${unjudged}, and it is required.`);
    process.exitCode = 1;
  }
}

const unjudged = 'Contract coverage is not judged';

/** Every test file of the projects was run, none of them in part. */
async function isWhole({ vitest }: TestProject): Promise<boolean> {
  const { testNamePattern, shard } = vitest.config;
  if (testNamePattern !== undefined || shard !== undefined) return false;
  const modules = vitest.state.getTestModules();
  const ran = new Set(modules.filter((module) => module.state() !== 'queued').map(({ moduleId }) => moduleId));
  return (await vitest.globTestSpecifications()).every(({ moduleId }) => ran.has(moduleId));
}

function judge(notes: ReadonlySet<string>): void {
  const reports = [nativeContract, openaiContract].map(({ document }) => coverageOf(document, notes));
  for (const { table } of reports) console.log(`\n${table}\n`);
  const missing = reports.flatMap((report) => report.missing);
  if (missing.length === 0) return;
  console.error(`The contract declares what no test has seen: ${missing.join(', ')}.`);
  process.exitCode = 1;
}

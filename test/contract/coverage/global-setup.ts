/**
 * Around a whole `npm test`: every service that the tests start notes what it answers, and what the contract declares but
 * no service has answered fails the run. A run of some of the tests says nothing about the contract and is left alone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { contract } from '../../../src/contract/document.ts';
import { coverageOf, readNotes } from './report.ts';
import { directoryVariable } from './recorder.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-coverage-'));
  process.env[directoryVariable] = directory;
  return async () => {
    if (await isWhole(project)) report(directory);
    await rm(directory, { recursive: true, force: true });
  };
}

/** Every test file was run, none of them in part. */
async function isWhole({ vitest }: TestProject): Promise<boolean> {
  const { testNamePattern, shard } = vitest.config;
  if (testNamePattern !== undefined || shard !== undefined) return false;
  const modules = vitest.state.getTestModules();
  const ran = new Set(modules.filter((module) => module.state() !== 'queued').map(({ moduleId }) => moduleId));
  return (await vitest.globTestSpecifications()).every(({ moduleId }) => ran.has(moduleId));
}

function report(directory: string): void {
  const { table, missing } = coverageOf(contract, readNotes(directory));
  console.log(`\n${table}\n`);
  if (missing.length === 0) return;
  console.error(`The contract declares what no test has seen: ${missing.join(', ')}.`);
  process.exitCode = 1;
}

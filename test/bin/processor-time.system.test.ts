import { expect, it, vi } from 'vitest';
import { processorSeconds } from '../../src/bin/bench/processor-time.ts';
import { startNode } from '../support/processes.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Writes how many seconds of processor time it has used, and ends with its stdin. */
const busy = `
  let used = 0;
  while (used < 300_000) used = process.cpuUsage().user + process.cpuUsage().system;
  console.log(used / 1e6);
  process.stdin.resume();`;

/** Starts that program, and writes what it writes when the event comes. */
const parent = `
  import { spawn } from 'node:child_process';
  const [, event, source] = process.argv;
  const child = spawn(process.execPath, ['-e', source], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').once('data', (used) => {
    if (event === 'exit') child.once('exit', () => console.log(used)).stdin.end();
    else console.log(used);
  });
  setInterval(() => {}, 1e6);`;

it.each([
  ['while it runs', 'data'],
  ['when it has ended', 'exit'],
])('counts the program of a program %s', async (_when, event) => {
  const before = processorSeconds();
  const used = Number(await startNode(parent, [event, busy]).firstLine);
  expect(processorSeconds() - before).toBeGreaterThan(used - 0.05); // the system counts in hundredths
});

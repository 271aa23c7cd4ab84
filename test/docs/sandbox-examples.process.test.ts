/** The examples of tests with the sandbox, as their readers run them. Each has at most 15 lines. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { windowless } from '../support/chromium.ts';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory, entriesOf } from '../support/temporary.ts';
import { home } from './support/pages.ts';

const folder = join(home, 'examples/sandbox');
const examples = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'));

/** Runs Node.js in the folder of the examples; returns what it prints if all is well. */
async function run(...args: readonly string[]): Promise<string> {
  const TMPDIR = await temporaryDirectory();
  const env = { ...process.env, CHROMIUM: windowless(), PYTHONDONTWRITEBYTECODE: '1', TMPDIR };
  const child = spawn(process.execPath, ['--conditions=parlance-source', ...args], { cwd: folder, env });
  child.stdin.end();
  const ended = new Promise((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(await ended, stdout + stderr).toBe(0);
  expect((await entriesOf(TMPDIR)).filter((name) => name.startsWith('parlance'))).toEqual([]);
  return stdout + stderr;
}

it('there are five', () => {
  expect(examples).toHaveLength(5);
});

describeWith(['chromium'], 'with node:test', () => {
  it.each(examples)('%s passes', async (name) => {
    expect(readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    expect(await run('--test', '--test-reporter=tap', name)).toContain('# pass 1\n');
  });
});

describeWith(['python3'], 'with Python', () => {
  it('the same pass', async () => {
    const source = readFileSync(join(folder, 'test_sandbox.py'), 'utf8');
    const tests = source.split(/^ {4}def test/m).slice(1);
    expect(tests).toHaveLength(5);
    for (const test of tests) expect(test.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    const command = ['python3', '-m', 'unittest', 'test_sandbox.py'];
    expect(await run(join(home, 'src/bin/sandbox.ts'), '--', ...command)).toMatch(/Ran 5 tests .*\n\nOK\n$/s);
  });
});

/** What the programs with a loaded model read: one question a line, whatever is in its strings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';

const program = `
  import { serveQuestions } from ${JSON.stringify(new URL('../../../../engines/lib/host-program/host-program.ts', import.meta.url).href)};
  serveQuestions(async ({ text }) => text.length);
  setInterval(() => {}, 1_000); // only the end of stdin ends it
`;

/** Writes these pieces, each after an answer to the one before, and returns what the program has said. */
async function talk(pieces: readonly string[]): Promise<unknown[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  child.stdin.on('error', () => {}); // of a program that has ended: the answers are missing then
  const said: unknown[] = [];
  const left = [...pieces];
  for await (const line of createInterface(child.stdout)) {
    said.push(JSON.parse(line));
    const next = left.shift();
    if (next === undefined) child.stdin.end();
    else child.stdin.write(next);
  }
  expect(await exit).toEqual([0, null]);
  return said.slice(1); // after `ready`
}

const lineOf = (id: number, text: string) => `${JSON.stringify({ id, text })}\n`;

test.each(['\u2028', '\u2029'])('a question with %j in it is one question', async (mark) => {
  expect(await talk([lineOf(1, `a${mark}b`)])).toEqual([{ id: 1, done: 3 }]);
});

test('a question in two pieces is read when its end has come', async () => {
  const second = lineOf(2, 'abc');
  const pieces = [`${lineOf(1, 'ab')}${second.slice(0, 9)}`, second.slice(9)];
  expect(await talk(pieces)).toEqual([
    { id: 1, done: 2 },
    { id: 2, done: 3 },
  ]);
});

test.each([
  ['is not JSON', 'what?\n'],
  ['is longer than any question', lineOf(1, 'x'.repeat(3_000_000))],
])('a line that %s is passed over', async (_what, line) => {
  expect(await talk([`${line}${lineOf(7, 'ab')}`])).toEqual([{ id: 7, done: 2 }]);
});

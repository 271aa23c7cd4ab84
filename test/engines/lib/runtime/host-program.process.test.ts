/** What the programs with a loaded model read: one question a line, whatever is in its strings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';

const program = `
  import { serveQuestions } from ${JSON.stringify(new URL('../../../../engines/lib/runtime/host-program.ts', import.meta.url).href)};
  serveQuestions(async ({ text }) => text.length);
`;

/** The answers to these lines. */
async function talk(lines: readonly string[], answers: number): Promise<unknown[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  child.stdin.on('error', () => {}); // of a program that has ended: the answers are missing then
  child.stdin.write(lines.join('\n'));
  const said: unknown[] = [];
  for await (const line of createInterface(child.stdout)) {
    said.push(JSON.parse(line));
    if (said.length === answers + 1) child.stdin.end();
  }
  expect(await exit).toEqual([0, null]);
  return said.slice(1);
}

test.each(['\u2028', '\u2029', '\u0085', '\r'])('a question with %j in it is one question', async (mark) => {
  const lines = [JSON.stringify({ id: 1, text: `a${mark}b` }), ''];
  expect(await talk(lines, 1)).toEqual([{ id: 1, done: 3 }]);
});

test('a line that is no JSON is passed over, and a question in pieces is read', async () => {
  const lines = ['what?', JSON.stringify({ id: 7, text: 'ab' }), ''];
  expect(await talk(lines, 1)).toEqual([{ id: 7, done: 2 }]);
});

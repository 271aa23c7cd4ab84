/** `npm start`, the real one: the process that npm starts is the service itself, so that signals reach it. And `npx`. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processes } from '../support/proc.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { ofGroup, startByNpm, type StartedByNpm } from './started-by-npm.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');
const npmStart = () => startByNpm(home, { PATH: process.env.PATH, PARLANCE_SANDBOX: '1' });

/** Every process of npm's group has ended. */
async function expectNothingLeft({ npm }: StartedByNpm): Promise<void> {
  await expect.poll(() => ofGroup(npm.pid!), { timeout: 10_000 }).toEqual([]);
}

test.each([
  ['SIGTERM to npm alone, whose child the service is,', 'SIGTERM', 1],
  ['SIGINT to the whole group, which npm forwards again,', 'SIGINT', -1],
] as const)('%s ends the service gracefully, and npm with 0', async (_what, signal, sign) => {
  const started = await npmStart();
  expect(processes().find(({ pid }) => pid === started.pid)).toMatchObject({ parent: started.npm.pid });
  const answer = inFlight(started);
  await answer.begun;
  process.kill(sign * started.npm.pid!, signal);
  expect(await answer.text).toContain('event: chat.completed');
  expect(await started.exit).toEqual([0, null]);
  await expectNothingLeft(started);
});

const serve = 'node --conditions=parlance-source src/bin/start.ts';

test('SIGTERM to npx alone ends the service gracefully, though the shell between them does not pass it on', async () => {
  const env = { PATH: process.env.PATH, PARLANCE_SANDBOX: '1' };
  const started = await startByNpm(home, env, ['exec', '--call', `${serve}; exit $?`]);
  const answer = inFlight(started);
  await answer.begun;
  started.npm.kill('SIGTERM');
  expect(await answer.text).toContain('event: chat.completed');
  await expectNothingLeft(started);
});

test('a service that npm did not start stays when the shell that started it exits', async () => {
  const env = { PATH: process.env.PATH, PARLANCE_SANDBOX: '1', PORT: '0', DATA_DIR: await temporaryDirectory() };
  const shell = spawn('sh', ['-c', `${serve} &`], {
    cwd: home,
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => ofGroup(shell.pid!).forEach(({ pid }) => process.kill(pid, 'SIGKILL')));
  let said = '';
  shell.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await expect.poll(() => said, { timeout: 100_000 }).toContain('listens on http');
  expect(shell.exitCode).toBe(0);
  const url = /listens on (http[^\s)]+)/.exec(said)![1]!;
  expect(await inFlight({ url }).text).toContain('event: chat.completed');
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

/** A stream that takes some seconds. */
function inFlight({ url }: Pick<StartedByNpm, 'url'>) {
  const body = JSON.stringify({ model: 'sandbox-chat-slow', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const response = fetch(`${url}/api/v1/chat/stream`, { method: 'POST', headers, body });
  return { begun: response, text: response.then((answer) => answer.text()) };
}

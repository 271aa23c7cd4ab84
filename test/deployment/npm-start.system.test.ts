/** `npm start`, the real one: the process that npm starts is the service itself, so that signals reach it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processes } from '../support/proc.ts';
import { findProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');

interface Started {
  readonly npm: ChildProcess;
  readonly url: string;
  /** Resolves with npm's exit code and signal. */
  readonly exit: Promise<unknown[]>;
  /** Of the service. */
  readonly pid: number;
}

/** Starts it in a process group of its own, as a terminal does. */
async function npmStart(): Promise<Started> {
  const { PATH, HOME } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: home,
    detached: true,
    env: {
      PATH,
      HOME,
      DATA_DIR: await temporaryDirectory(),
      PORT: '0',
      PARLANCE_SANDBOX: '1',
      TRANSCRIBE_SETUP: 'off',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(npm, 'exit');
  onTestFinished(async () => {
    for (const { pid } of ofGroup(npm.pid!)) process.kill(pid, 'SIGKILL');
    await exit;
  });
  let said = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const address = () => /listens on (http\S+)/.exec(said)?.[1];
  await expect.poll(address, { timeout: 60_000 }).toBeDefined();
  const service = ofGroup(npm.pid!).find(({ commandLine }) => /^\S*node .*src\/main\.ts$/.test(commandLine));
  return { npm, url: address()!, exit, pid: service!.pid };
}

const ofGroup = (leader: number) => processes().filter(({ group }) => group === leader);

/** Every process of npm's group has ended. */
async function expectNothingLeft({ npm }: Started): Promise<void> {
  await expect.poll(() => ofGroup(npm.pid!), { timeout: 10_000 }).toEqual([]);
}

test.skipIf(findProgram('npm') === undefined)('the service is the child of npm itself', async () => {
  const { npm, pid } = await npmStart();
  expect(processes().find((process) => process.pid === pid)).toMatchObject({ parent: npm.pid });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to npm alone ends the service gracefully, and npm with 0',
  async (signal) => {
    const started = await npmStart();
    const answer = inFlight(started);
    await answer.begun;
    started.npm.kill(signal);
    expect(await answer.text).toContain('event: chat.completed');
    expect(await started.exit).toEqual([0, null]);
    await expectNothingLeft(started);
  },
);

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to the whole group, which npm forwards again, does so too',
  async (signal) => {
    const started = await npmStart();
    const answer = inFlight(started);
    await answer.begun;
    process.kill(-started.npm.pid!, signal);
    expect(await answer.text).toContain('event: chat.completed');
    expect(await started.exit).toEqual([0, null]);
    await expectNothingLeft(started);
  },
);

/** A stream that takes some seconds. */
function inFlight({ url }: Started) {
  const body = JSON.stringify({ model: 'sandbox-chat-slow', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const response = fetch(`${url}/api/v1/chat/stream`, { method: 'POST', headers, body });
  return { begun: response, text: response.then((answer) => answer.text()) };
}

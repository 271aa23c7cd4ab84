/** `npm start`, the real one: the process that npm starts is the service itself, so that signals reach it. */
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { processes } from '../support/proc.ts';
import { findProgram } from '../support/programs.ts';
import { ofGroup, startByNpm, type StartedByNpm } from './started-by-npm.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');
const npmStart = () => startByNpm(home, { PATH: process.env.PATH, PARLANCE_SANDBOX: '1' });

/** Every process of npm's group has ended. */
async function expectNothingLeft({ npm }: StartedByNpm): Promise<void> {
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
function inFlight({ url }: StartedByNpm) {
  const body = JSON.stringify({ model: 'sandbox-chat-slow', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const response = fetch(`${url}/api/v1/chat/stream`, { method: 'POST', headers, body });
  return { begun: response, text: response.then((answer) => answer.text()) };
}

/** How long chats wait for MCP servers that are down or hang, and how soon a disconnect ends the waiting. */
import { describe, expect, it } from 'vitest';
import { processesWith, until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { connected, down, good, names, openConnected, openTools, run, scripted } from './mcp-support.ts';

async function took(work: () => Promise<unknown>): Promise<number> {
  const elapsedMs = startStopwatch();
  await work();
  return elapsedMs();
}

describe('a server that is down', () => {
  it('is not retried before the back-off, and does not delay chats', async () => {
    const open = openTools({ bad: { command: 'sh', args: ['-c', 'exit 1'] } });
    await until('it is told', () => open.said(down).length === 1);
    for (let chat = 0; chat < 5; chat += 1) expect(await took(() => open.offered())).toBeLessThan(250);
    expect(open.said('the MCP server is still down')).toEqual([]);
  });
});

describe('a server that hangs', () => {
  it('in initialize delays the first chats by two seconds in total, and is killed at the end', async () => {
    const server = await scripted(`on.initialize = () => undefined;
      process.on('SIGTERM', () => {}); process.stdin.pause(); setInterval(() => {}, 1000);`);
    const open = openTools({ hangs: server, good: await good() });
    await until('the other is connected', () => open.said(connected).length === 1);
    expect(await took(async () => expect(await names(open)).toHaveLength(2))).toBeLessThan(3_000);
    expect(await took(async () => expect(await names(open)).toHaveLength(2))).toBeLessThan(250);
    expect(await took(async () => open.mcp[Symbol.asyncDispose]())).toBeLessThan(4_000);
    // Killed it has been; to be gone it needs the processor once more.
    await until('it is gone', () => processesWith(server.args[0]!).length === 0);
  });

  it('and does not hold a chat that disconnects', async () => {
    const open = openTools({ hangs: await scripted('on.initialize = () => undefined;') });
    const caller = new AbortController();
    const waiting = open.mcp.toolsFor({ id: 'a-chat', signal: caller.signal }).catch((error: unknown) => error);
    const sinceLeft = startStopwatch();
    caller.abort(new Error('gone'));
    expect(await waiting).toBe(caller.signal.reason);
    expect(sinceLeft()).toBeLessThan(250);
  });

  it('in a call is notified of a disconnect, without the reason', async () => {
    const server = await scripted(`on['tools/call'] = () => void console.error('called');
      on['notifications/cancelled'] = ({ params }) => void console.error('cancelled: ' + params.reason);`);
    const open = await openConnected({ slow: server });
    const caller = new AbortController();
    const outcome = run(open, 'slow__one', {}, { signal: caller.signal }).catch((error: unknown) => error);
    await until('it is at work', () => open.log.some(({ stderr }) => stderr === 'called'));
    const sinceLeft = startStopwatch();
    caller.abort(new Error('a private reason'));
    expect(await outcome).toBe(caller.signal.reason);
    expect(sinceLeft()).toBeLessThan(250);
    await until('the server knows', () => open.log.some(({ stderr }) => stderr === 'cancelled: the caller has left'));
  });
});

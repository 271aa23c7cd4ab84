/** MCP servers and the clock: how long chats wait for those that are down or hang, and how much of a flood is read. */
import { describe, expect, it } from 'vitest';
import type { ToolEvent } from '../../engines/contract/index.ts';
import { processesWith, until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { watchTurns } from '../support/turns.ts';
import { connected, down, good, names, openConnected, openTools, run, scripted } from './mcp-support.ts';

/** A script that writes as fast as it is read: one that were faster would fail by itself, with ENOBUFS. */
const pouring = (stream: 'stdout' | 'stderr', what: string) =>
  `const pour = () => { while (process.${stream}.write(${what})); process.${stream}.once('drain', pour); }; pour();`;

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
    await until('it is busy', () => open.log.some(({ stderr }) => stderr === 'called'));
    const sinceLeft = startStopwatch();
    caller.abort(new Error('a private reason'));
    expect(await outcome).toBe(caller.signal.reason);
    expect(sinceLeft()).toBeLessThan(250);
    await until('the server knows', () =>
      open.log.some(({ stderr }) => stderr === 'cancelled: the caller has disconnected'),
    );
  });
});

describe('a server with invalid output', () => {
  it.each([
    ['lines that are no messages', `setInterval(() => console.log('la'.repeat(30)), 0);`, 'the output is not MCP'],
    ['a line without end', pouring('stdout', `'x'.repeat(1 << 20)`), 'message exceeds'],
  ])('is ended: %s', async (_what, script, reason) => {
    const server = await scripted(`on.initialize = () => undefined; ${script}`);
    const before = process.memoryUsage().rss;
    const open = openTools({ loud: server });
    await until('it is told', () => open.said(down).length === 1);
    expect(open.said(down)[0]!.reason).toContain(reason);
    await until('it is gone', () => processesWith(server.args[0]!).length === 0); // to end, it needs the processor
    expect(process.memoryUsage().rss - before).toBeLessThan(150e6);
  });

  it('is read at a limited rate', async () => {
    const flood = `const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
      const pour = () => { while (process.stdout.write((notice + '\\n').repeat(1000))); process.stdout.once('drain', pour); };
      on['notifications/initialized'] = () => void setTimeout(pour, 500);`;
    const server = await scripted(flood);
    const open = await openConnected({ flood: server, good: await good() });
    const [started, used] = [performance.now(), process.cpuUsage()];
    const turns = watchTurns();
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // time for the flood to rise
    const { user, system } = process.cpuUsage(used);
    expect((user + system) / 1000 / (performance.now() - started)).toBeLessThan(0.5);
    expect(turns().longestMs).toBeLessThan(250);
    expect(await run(open, 'good__one')).toBe('one was called');
  });

  it('may flood stderr: a part is logged at debug, without secrets from its settings', async () => {
    const server = await scripted(`console.error('my key is ' + process.env.KEY); console.error('x'.repeat(100000));
      ${pouring('stderr', `'again\\n'.repeat(100)`)}`);
    const started = performance.now();
    const open = await openConnected({ chatty: { ...server, env: { KEY: 'hush-hush' } } });
    expect(await run(open, 'chatty__one')).toBe('one was called');
    const lines = open.log.filter(({ stderr }) => stderr !== undefined);
    expect(lines[0]).toMatchObject({ level: 20, mcp: 'chatty', stderr: 'my key is [secret]' });
    expect(lines[1]!.stderr).toHaveLength(500);
    expect(lines.length).toBeLessThanOrEqual(20 * (2 + (performance.now() - started) / 1_000)); // twenty a second
    expect(JSON.stringify(open.log)).not.toContain('hush-hush');
  });
});

describe('a result', () => {
  it('reports progress at most twenty times a second, and not after the end', async () => {
    const script = `on['tools/call'] = ({ id, params }) => {
      const { progressToken } = params._meta;
      for (let i = 1; i <= 500; i++) say({ method: 'notifications/progress', params: { progressToken, progress: i, message: 'step ' + i } });
      say({ id, result: text('done') });
      say({ method: 'notifications/progress', params: { progressToken, progress: 1000 } });
    };`;
    const open = await openConnected({ s: await scripted(script) });
    const events: ToolEvent[] = [];
    const started = performance.now();
    expect(await run(open, 's__one', {}, { events })).toBe('done');
    expect(events[0]).toEqual({ type: 'progress', progress: 1, message: 'step 1' });
    expect(events.length).toBeLessThanOrEqual(1 + (performance.now() - started) / 50);
    await run(open, 's__one'); // what came behind the first answer has been read by now
    expect(events.map((event) => event.type === 'progress' && event.progress)).not.toContain(1000);
  });
});

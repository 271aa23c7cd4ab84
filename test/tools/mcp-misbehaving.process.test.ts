/** MCP servers that do what they should not: whatever it is, chats continue and nothing is left behind. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { processesWith, until } from '../support/processes.ts';
import {
  back,
  connected,
  down,
  good,
  names,
  offering,
  openConnected,
  openTools,
  run,
  scripted,
  type OpenTools,
} from './mcp-support.ts';

describe('a server that is down', () => {
  it.each([
    [
      'a program that there is not',
      { command: 'parlance-no-such-program' },
      'program not found: parlance-no-such-program',
    ],
    [
      'a program that fails',
      { command: 'sh', args: ['-c', 'echo no license >&2; exit 3'] },
      'ended with exit code 3: no license',
    ],
    ['an address where nothing listens', { url: 'http://127.0.0.1:1024/mcp' }, 'ECONNREFUSED'],
  ])('is told once, and the tools of the others are offered: %s', async (_what, server, reason) => {
    const open = openTools({ bad: server, good: await good() }, { backOffMs: 0 });
    await until('the other is connected', () => open.said(connected).length === 1);
    await until('it is told', () => open.said(down).length === 1);
    for (let chat = 0; chat < 3; chat += 1) expect(await names(open)).toEqual(['good__one', 'good__two']);
    expect(open.said(down)).toHaveLength(1);
    expect(open.said(down)[0]).toMatchObject({
      level: 40,
      mcp: 'bad',
      reason: expect.stringContaining(reason) as string,
    });
  });

  it('recovers, and logs that', async () => {
    const flag = `import { existsSync } from 'node:fs'; if (!existsSync(process.argv[1] + '.ready')) process.exit(1);`;
    const server = await scripted(flag);
    const open = openTools({ late: server }, { backOffMs: 100 });
    await until('it is told', () => open.said(down).length === 1);
    expect(await names(open)).toEqual([]);
    await writeFile(`${server.args[0]!}.ready`, '');
    await expect.poll(() => names(open), { timeout: 10_000 }).toEqual(['late__one', 'late__two']);
    expect(open.said(back)).toMatchObject([{ mcp: 'late', tools: 2 }]);
    expect(open.said(down)).toHaveLength(1);
  });
});

describe('a server that hangs', () => {
  it('in a call is notified of the timeout', async () => {
    const server = await scripted(`on['tools/call'] = () => undefined;
      on['notifications/cancelled'] = () => void console.error('it was canceled');`);
    const open = await openConnected({ slow: { ...server, timeout: 0.3 } });
    const call = run(open, 'slow__one');
    await expect(call).rejects.toMatchObject({
      code: 'engine-timeout',
      message: 'The tool did not respond within 0.3 seconds.',
    });
    await until('the server knows', () => open.log.some(({ stderr }) => stderr === 'it was canceled'));
    expect(open.said(down)).toEqual([]);
  });

  it('and stops reading does not make the service buffer without limit', async () => {
    const server = await scripted(`on['tools/call'] = () => { while (true); };`);
    const open = await openConnected({ deaf: { ...server, timeout: 1 } }, { backOffMs: 60_000 });
    const tool = (await open.offered()).get('deaf__one')!;
    const call = { signal: new AbortController().signal, emit: () => {} };
    const filler = 'x'.repeat(4 * 1024 * 1024);
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => tool.run({ filler }, call)));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(open.said(down)).toMatchObject([{ reason: 'the program does not read its stdin' }]);
  });
});

describe('a server that ends', () => {
  it('in a call fails the call, and is restarted for the next', async () => {
    const server = await scripted(`on['tools/call'] = ({ params }) => {
      if (params.name === 'one') { console.error('out of memory'); process.exit(7); }
      return text('fine');
    };`);
    const open = await openConnected({ frail: server }, { backOffMs: 0 });
    const call = run(open, 'frail__one');
    await expect(call).rejects.toMatchObject({
      name: 'EngineError',
      message: 'The tool server frail failed during the call.',
    });
    expect(open.said(down)).toMatchObject([{ mcp: 'frail', reason: 'ended with exit code 7: out of memory' }]);
    await offering(open, 'frail__two');
    expect(await run(open, 'frail__two')).toBe('fine');
    expect(open.said(back)).toHaveLength(1);
  });

  it('is unavailable before the back-off, and the model gets an error', async () => {
    const server = await scripted(`on['tools/call'] = () => process.exit(1);`);
    const open = await openConnected({ frail: server }, { backOffMs: 60_000 });
    const tool = (await open.offered()).get('frail__one')!;
    const call = { signal: new AbortController().signal, emit: () => {} };
    await expect(tool.run({}, call)).rejects.toThrow('failed during the call');
    await expect(tool.run({}, call)).rejects.toThrow('The tool server frail is not available.');
    expect((await open.offered()).size).toBe(0);
  });

  it('ends its children', async () => {
    const server = await scripted(`import { spawn } from 'node:child_process';
      spawn('sleep', ['300.' + process.pid + '77'], { stdio: 'ignore' });
      on['tools/call'] = () => text('300.' + process.pid + '77');`);
    const open = await openConnected({ parent: server });
    const mark = await run(open, 'parent__one');
    expect(processesWith(mark)).toHaveLength(1);
    await open.mcp[Symbol.asyncDispose]();
    await until('the child is gone', () => processesWith(mark).length === 0); // to end, it needs the processor
  });
});

describe('a server with invalid output', () => {
  it('may print a banner', async () => {
    const open = await openConnected({ polite: await scripted(`console.log('Welcome!\\n\\n{"not": "a message"}');`) });
    expect(await run(open, 'polite__two')).toBe('two was called');
  });

  it.each([
    ['--api-key', 'hush-hush'],
    ['--token=hush-hush'],
    ['API_KEY=hush-hush'],
    ['--header', 'Authorization: Bearer hush-hush'],
    ['--header=Authorization: Bearer hush-hush'],
  ])('may say what the key in its arguments is (%s): the log does not', async (...args) => {
    const server = await scripted(`console.error('said', process.argv.slice(2).join(' ')); process.exit(1);`);
    const open = openTools({ tells: { ...server, args: [...server.args, ...args] } });
    await until('it is down', () => open.said(down).length === 1);
    expect(open.said(down)[0]).toMatchObject({ reason: expect.stringMatching(/said .*\[secret\]/) as string });
    expect(JSON.stringify(open.log)).not.toContain('hush-hush');
  });
});

describe('a tool list', () => {
  const warnings = (open: OpenTools) =>
    open.said('some tools of the MCP server were skipped').map(({ reason }) => reason);

  it('may have ten thousand entries: 128 are offered', async () => {
    const open = await openConnected({
      many: await scripted(`tools = Array.from({ length: 10000 }, (_, i) => tool('t' + i));`),
    });
    const offered = await names(open);
    expect(offered).toHaveLength(128);
    expect(offered[127]).toBe('many__t127');
    expect(warnings(open)).toEqual([expect.stringContaining('9872 over the limit of 128')]);
  });

  it('may have ten thousand entries, with only the last on the allow-list', async () => {
    const server = await scripted(`tools = Array.from({ length: 10000 }, (_, i) => tool('t' + i));`);
    expect(await names(await openConnected({ many: { ...server, tools: ['t9999'] } }))).toEqual(['many__t9999']);
  });

  it('may be paginated, up to a limit', async () => {
    const paged = `let page = 0; on['tools/list'] = ({ params }) =>
      ({ tools: [tool('t' + page)], nextCursor: String(page++) });`;
    expect(await names(await openConnected({ paged: await scripted(paged) }))).toHaveLength(100);
    const same = `on['tools/list'] = () => ({ tools: [tool('one')], nextCursor: 'again' });`;
    expect(await names(await openConnected({ same: await scripted(same) }))).toEqual(['same__one']);
  });

  it('may have invalid entries: the others are offered', async () => {
    const deep = `'['.repeat(100000) + ']'.repeat(100000)`;
    const open = await openConnected({
      odd: await scripted(`const list = JSON.stringify([
        null, 5, 'tool', {}, tool(''), tool(7), tool('good'), tool('good', { description: 'again' }),
        tool('bare', { inputSchema: undefined }), tool('list', { inputSchema: [] }),
        tool('string', { inputSchema: { type: 'string' } }), tool('large', { inputSchema: { type: 'object', x: 'x'.repeat(40000) } }),
        tool('deep', { inputSchema: { type: 'object', properties: { x: 'DEEP' } } }),
        tool('wordy', { description: 'word '.repeat(5000) }), tool('mute', { description: undefined }),
      ]).replace('"DEEP"', ${deep});
      on['tools/list'] = ({ id }) => void process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":' + list + '}}\\n');`),
    });
    const offered = await open.offered();
    expect([...offered.keys()]).toEqual(['odd__good', 'odd__wordy', 'odd__mute']);
    expect(offered.get('odd__good')!.description).toBe('does good');
    expect(offered.get('odd__wordy')!.description).toHaveLength(1024);
    expect(offered.get('odd__mute')!.description).toBe('mute');
    expect(warnings(open)).toEqual(['11 without a name or a usable schema']);
  });

  it('may have schemas that providers reject: they are normalized or skipped', async () => {
    const open = await openConnected({
      odd: await scripted(`const properties = { a: { type: 'string' }, b: true };
      const schemas = {
        either: { properties, required: ['a'], anyOf: [{ required: ['b'] }], not: {}, additionalProperties: false },
        nothing: { properties: null, required: null },
        list: { properties: [1] },
        words: { properties: { a: 'string' } },
        one: { properties, required: 'a' },
      };
      tools = Object.entries(schemas).map(([name, more]) => tool(name, { inputSchema: { type: 'object', ...more } }));`),
    });
    const offered = await open.offered();
    expect([...offered].map(([name, { parameters }]) => [name, parameters])).toEqual([
      [
        'odd__either',
        {
          type: 'object',
          properties: { a: { type: 'string' }, b: true },
          required: ['a'],
          additionalProperties: false,
        },
      ],
      ['odd__nothing', { type: 'object', properties: {} }],
    ]);
    expect(warnings(open)).toEqual(['3 without a name or a usable schema']);
  });

  it('is truncated at the total limit over all servers, with one warning', async () => {
    const server = await scripted(`tools = Array.from({ length: 100 }, (_, i) => tool('t' + i));`);
    const open = await openConnected({ one: server, two: server });
    const offered = await names(open);
    expect([offered.length, offered.at(-1)]).toEqual([128, 'two__t27']);
    await open.offered();
    expect(open.said(/too many tools, only the first 128 are offered/)).toMatchObject([{ level: 40, tools: 200 }]);
  });

  it('may be invalid', async () => {
    const open = openTools({ none: await scripted(`on['tools/list'] = () => ({ tools: 'all of them' });`) });
    await until('it is told', () => open.said(down).length === 1);
    expect(open.said(down)[0]!.reason).toBe('invalid tool list');
  });

  it('is empty without the tools capability', async () => {
    const open = await openConnected({
      none: await scripted(`const { initialize } = on;
      on.initialize = (message) => ({ ...initialize(message), capabilities: { prompts: {} } });`),
    });
    expect(await names(open)).toEqual([]);
  });

  it('is reloaded on list_changed', async () => {
    const server = await scripted(`on['tools/call'] = () => {
      tools = [tool('three')];
      say({ method: 'notifications/tools/list_changed' });
      return text('changed');
    };`);
    const open = await openConnected({ moving: server });
    expect(await names(open)).toEqual(['moving__one', 'moving__two']);
    await run(open, 'moving__one');
    await expect.poll(() => names(open)).toEqual(['moving__three']);
  });

  it('is reloaded at most once per second', async () => {
    const server = await scripted(`let count = 0;
      on['tools/list'] = () => ({ tools: [tool('read' + count++)] });
      on['notifications/initialized'] = () => void setInterval(() => say({ method: 'notifications/tools/list_changed' }), 5);`);
    const open = await openConnected({ restless: server });
    const reads = () => open.said('the tools of the MCP server have changed').map(({ time }) => Number(time));
    await until('it is read three times more', () => reads().length >= 3);
    expect(await names(open)).toEqual([expect.stringMatching(/^restless__read[3-9]$/)]);
    for (const [index, time] of reads().slice(1).entries()) {
      expect(time - reads()[index]!).toBeGreaterThan(990); // a timer and the clock of the log differ by some
    }
  });
});

describe('names of tools', () => {
  it('are valid for every provider, unique and stable', async () => {
    const hostile = [
      ...['ok', 'with space', 'with.dot', 'Größe', '工具', '../../etc', 'a'.repeat(200), `${'a'.repeat(200)}b`],
      ...['<script>', 'nul\u0000l', '__proto__', 'constructor', '"; rm -rf /'],
    ];
    const script = `tools = ${JSON.stringify(hostile)}.map((name) => tool(name));`;
    const open = await openConnected({ odd: await scripted(script) });
    const offered = await open.offered();
    expect(offered.size).toBe(hostile.length);
    for (const name of offered.keys()) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect([...offered.keys()]).toEqual(expect.arrayContaining(['odd__ok', 'odd____proto__', 'odd__constructor']));
    const other = await openConnected({ odd: await scripted(`${script} tools.reverse();`) });
    expect((await names(other)).reverse()).toEqual([...offered.keys()]);
    for (const [index, tool] of [...offered.values()].entries()) {
      const call = { signal: new AbortController().signal, emit: () => {} };
      expect(await tool.run({}, call)).toBe(`${hostile[index]!} was called`);
    }
  });

  it('differ if server and tool names concatenate to the same name', async () => {
    const a = await scripted(`tools = [tool('b__c')]; on['tools/call'] = () => text('the first');`);
    const b = await scripted(`tools = [tool('c')]; on['tools/call'] = () => text('the second');`);
    const open = await openConnected({ a, a__b: b });
    const [first, second] = await names(open);
    expect(first).toBe('a__b__c');
    expect(second).toMatch(/^a__b__c_[0-9a-f]{8}$/);
    expect(await run(open, first!)).toBe('the first');
    expect(await run(open, second!)).toBe('the second');
  });
});

it('is not called with arguments that cannot be serialized, and stays connected', async () => {
  const open = await openConnected({ good: await good() });
  const deep = JSON.parse('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)) as object;
  await expect(run(open, 'good__one', deep)).rejects.toThrow('nested too deeply');
  expect(open.said(down)).toEqual([]);
  expect(await run(open, 'good__one')).toBe('one was called');
});

describe('a tool result', () => {
  const answering = async (result: string) =>
    openConnected({ s: await scripted(`on['tools/call'] = () => (${result});`) });

  it.each([
    ['several texts', `{ content: [...text('a').content, ...text('b').content] }`, 'a\nb'],
    ['nothing', `{ content: [] }`, '[no content]'],
    ['structured content alone', `{ content: [], structuredContent: { sum: 42 } }`, '{"sum":42}'],
    ['structured content beside text', `{ ...text('the sum is 42'), structuredContent: { sum: 42 } }`, 'the sum is 42'],
    [
      'an image',
      `{ content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(16384) }] }`,
      '[image, image/png, 12 KB]',
    ],
    ['a sound', `{ content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] }`, '[audio, audio/wav, 3 bytes]'],
    ['a text file', `{ content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }] }`, 'inside'],
    [
      'another file',
      `{ content: [{ type: 'resource', resource: { uri: 'file:///a', mimeType: 'application/zip', blob: 'AAAA' } }] }`,
      '[file, application/zip, 3 bytes]',
    ],
    ['a link', `{ content: [{ type: 'resource_link', name: 'a', uri: 'file:///a' }] }`, '[link, a, file:///a]'],
  ])('is read by the model as text: %s', async (_what, result, expected) => {
    expect(await run(await answering(result), 's__one')).toBe(expected);
  });

  it('may be nested too deeply', async () => {
    const script = `on['tools/call'] = ({ id }) => void process.stdout.write('{"jsonrpc":"2.0","id":' + id +
      ',"result":{"content":[],"structuredContent":{"a":' + '['.repeat(100000) + ']'.repeat(100000) + '}}}\\n');`;
    const open = await openConnected({ s: await scripted(script) });
    expect(await run(open, 's__one')).toBe('[structured content, nested too deeply]');
  });

  it('is truncated to 32,000 characters, with a note', async () => {
    const answer = await run(await answering(`text('😀'.repeat(1000000))`), 's__one');
    expect(answer.length).toBeLessThanOrEqual(32_000);
    expect(answer).toMatch(/^(😀)+\n\[truncated: the result has 2000000 characters\]$/u);
  });

  it('is thrown unchanged when isError is set', async () => {
    const call = run(await answering(`{ ...text('no such city'), isError: true }`), 's__one');
    await expect(call).rejects.toMatchObject({ name: 'EngineError', code: 'engine-failed', message: 'no such city' });
  });

  it.each([
    ['no content', `{ content: 'text' }`],
    ['a kind that there is not', `{ content: [{ type: 'smell' }] }`],
  ])('is refused when it is no result, and the server stays: %s', async (_what, result) => {
    const open = await answering(result);
    await expect(run(open, 's__one')).rejects.toThrow('The response of the tool is invalid.');
    expect(open.said(down)).toEqual([]);
  });

  it('is thrown for a protocol error', async () => {
    const open = await openConnected({
      s: await scripted(
        `on['tools/call'] = ({ id }) => say({ id, error: { code: -32602, message: 'city is missing' } });`,
      ),
    });
    await expect(run(open, 's__one')).rejects.toThrow('city is missing');
    expect(open.said(down)).toEqual([]);
  });
});

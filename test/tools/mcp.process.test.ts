/** The tools of MCP servers that others have written, over stdio. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolEvent } from '../../engines/contract/index.ts';
import { processesWith, startNode, until } from '../support/processes.ts';
import { runScript } from '../support/scripts.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { connected, down, fromNpm, openConnected, openTools, run, scripted } from './mcp-support.ts';

describe('server-everything', () => {
  it('offers its tools with names, descriptions and schemas valid for providers', async () => {
    const tools = await (await openConnected({ every: fromNpm('everything') })).offered();
    expect(tools.size).toBeGreaterThan(5);
    for (const { name, description, parameters } of tools.values()) {
      expect(name).toMatch(/^every__[a-zA-Z0-9_-]{1,57}$/);
      expect(description).not.toBe('');
      expect(parameters).toMatchObject({ type: 'object', properties: expect.any(Object) as object });
    }
    expect(tools.get('every__echo')?.parameters).toMatchObject({ properties: { message: { type: 'string' } } });
  });

  it('answers', async () => {
    const open = await openConnected({ every: fromNpm('everything') });
    expect(await run(open, 'every__echo', { message: 'Grüße, 🌍' })).toBe('Echo: Grüße, 🌍');
    expect(await run(open, 'every__get-sum', { a: 2, b: 40 })).toContain('42');
  });

  it('reports progress', async () => {
    const open = await openConnected({ every: fromNpm('everything') });
    const long = 'every__trigger-long-running-operation';
    expect(await run(open, long, { duration: 0.1, steps: 1 })).toContain('Long running operation completed');
    const events: ToolEvent[] = [];
    const caller = new AbortController();
    const { signal } = caller;
    const outcome = run(open, long, { duration: 60, steps: 600 }, { signal, events }).catch((error: unknown) => error);
    await until('it has told more than once', () => events.length >= 3); // of what comes together, one is told
    caller.abort(new Error('enough'));
    expect(await outcome).toBe(signal.reason);
    expect(events[0]).toEqual({ type: 'progress', progress: 1, total: 600 });
  });

  it('describes non-text content as text', async () => {
    const open = await openConnected({ every: fromNpm('everything') });
    expect(await run(open, 'every__get-tiny-image')).toMatch(/\[image, image\/png, \d+ (KB|bytes)\]/);
    expect(await run(open, 'every__get-resource-links', { count: 2 })).toMatch(/\[link, .+, demo:\/\/.+\]/);
  });

  it('rejects invalid arguments with a message for the model, and continues', async () => {
    const open = await openConnected({ every: fromNpm('everything') });
    await expect(run(open, 'every__get-sum', { a: 'two' })).rejects.toMatchObject({
      name: 'EngineError',
      code: 'engine-failed',
      message: expect.stringMatching(/invalid|number/i) as string,
    });
    expect(await run(open, 'every__get-sum', { a: 1, b: 1 })).toContain('2');
  });

  it('inherits HOME, PATH, SHELL, TERM and its own settings, but no API keys', async () => {
    const env = { OPENAI_API_KEY: 'sk-hush', API_KEYS: 'hush', USER: 'me', SHELL: '/bin/sh', TERM: 'dumb' };
    const server = { ...fromNpm('everything'), env: { TOKEN: 'its own', TERM: 'vt100' } };
    const answer = await run(await openConnected({ every: server }, { env }), 'every__get-env');
    const seen = JSON.parse(answer) as Record<string, string>;
    expect(seen).toMatchObject({ TOKEN: 'its own', TERM: 'vt100', SHELL: '/bin/sh', PATH: process.env.PATH });
    expect(Object.keys(seen).sort()).toEqual(['HOME', 'PATH', 'SHELL', 'TERM', 'TOKEN']);
  });

  it('is notified of a cancellation, and the call rejects with the reason', async () => {
    const open = await openConnected({ every: fromNpm('everything') });
    const caller = new AbortController();
    const events: ToolEvent[] = [];
    const call = run(
      open,
      'every__trigger-long-running-operation',
      { duration: 60, steps: 600 },
      { signal: caller.signal, events },
    );
    const outcome = call.catch((error: unknown) => error);
    await until('it is busy', () => events.length > 0);
    caller.abort(new Error('the caller has disconnected'));
    expect(await outcome).toBe(caller.signal.reason);
    expect(await run(open, 'every__echo', { message: 'still here' })).toBe('Echo: still here');
  });
});

describe('server-filesystem and server-memory', () => {
  it('run side by side, one process each for all chats', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'note.txt'), 'what was written');
    const memory = { ...fromNpm('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } };
    const open = await openConnected({ files: fromNpm('filesystem', folder), memory });
    expect(await run(open, 'files__read_text_file', { path: join(folder, 'note.txt') })).toContain('what was written');
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes engines'] }];
    await run(open, 'memory__create_entities', { entities });
    expect(await run(open, 'memory__search_nodes', { query: 'engines' })).toContain('Ada');
    expect(await readFile(join(folder, 'memory.json'), 'utf8')).toContain('Ada');
    expect(processesWith(folder)).toHaveLength(1); // the memory's has its folder in the environment
  });

  it('passes on its refusal', async () => {
    const folder = await temporaryDirectory();
    const open = await openConnected({ files: fromNpm('filesystem', folder) });
    const refusal = run(open, 'files__read_text_file', { path: '/etc/passwd' });
    await expect(refusal).rejects.toThrow(/Access denied/);
  });

  it('offers only tools on the allow-list, and logs missing ones', async () => {
    const folder = await temporaryDirectory();
    const tools = ['read_text_file', 'list_directory', 'no_such_tool'];
    const open = await openConnected({ files: { ...fromNpm('filesystem', folder), tools } });
    expect([...(await open.offered()).keys()].sort()).toEqual(['files__list_directory', 'files__read_text_file']);
    const [line] = open.said('some tools of the MCP server were skipped');
    expect(line).toMatchObject({ level: 40, mcp: 'files', reason: 'not found: no_such_tool' });
  });
});

describe('a server ends', () => {
  it('with the service', async () => {
    const folder = await temporaryDirectory();
    const open = await openConnected({ files: fromNpm('filesystem', folder) });
    expect(processesWith(folder)).toHaveLength(1);
    await open.mcp[Symbol.asyncDispose]();
    await until('the server is gone', () => processesWith(folder).length === 0); // to end, it needs the processor
    expect(open.said(/down/)).toEqual([]);
    expect((await open.offered()).size).toBe(0);
  });

  it('during its startup', async () => {
    const folder = await temporaryDirectory();
    const open = openTools({ files: fromNpm('filesystem', folder) });
    await until('it is being started', () => processesWith(folder).length > 0);
    await open.mcp[Symbol.asyncDispose]();
    await until('the server is gone', () => processesWith(folder).length === 0); // to end, it needs the processor
  });

  it.runIf(process.platform === 'linux')('when the service is SIGKILLed', async () => {
    const folder = await temporaryDirectory();
    const source = `
      import { pino } from 'pino';
      import { createMcpTools } from ${JSON.stringify(join(import.meta.dirname, '../../src/tools/mcp/index.ts'))};
      const log = pino({ level: 'info' });
      const mcpServers = JSON.parse(process.argv[1]);
      createMcpTools({ settings: { mcpServers, baseDir: '/' }, env: process.env, log }).connect();`;
    const servers = { files: fromNpm('filesystem', folder) };
    const service = startNode(source, [JSON.stringify(servers)]);
    onTestFinished(() => void service.child.kill('SIGKILL'));
    expect(await service.firstLine).toContain('is connected');
    expect(processesWith(folder)).toHaveLength(2);
    service.child.kill('SIGKILL');
    await service.ended;
    await until('the server is gone', () => processesWith(folder).length === 0);
  });
});

describe('the service', () => {
  it('starts without waiting for its servers, and stops them on exit', async () => {
    const folder = await temporaryDirectory();
    const hanging = await scripted('on.initialize = () => undefined;');
    const mcpServers = {
      files: fromNpm('filesystem', folder),
      hanging,
      missing: { command: 'parlance-no-such-program' },
    };
    const service = await startTestService({ config: JSON.stringify({ mcpServers }) });
    try {
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
      const said = (message: string) => service.log.filter(({ msg }) => msg === message).map(({ mcp }) => mcp);
      await until('its servers are looked after', () => said(connected).length + said(down).length === 2, 20_000);
      expect(said(connected)).toEqual(['files']);
      expect(said(down)).toEqual(['missing']);
    } finally {
      await service[Symbol.asyncDispose]();
    }
    const theirs = () => [...processesWith(folder), ...processesWith(hanging.args[0]!)];
    await until('its servers are gone', () => theirs().length === 0);
  });

  it('reports in doctor which servers respond', async () => {
    const folder = await temporaryDirectory();
    const mcpServers = { files: fromNpm('filesystem', folder), missing: { command: 'parlance-no-such-program' } };
    await writeFiles(folder, { 'parlance.config.yaml': { mcpServers } });
    const env = { DATA_DIR: join(folder, 'data') };
    const { stdout } = await runScript('src/bin/doctor.ts', [], { cwd: folder, env });
    expect(stdout).toMatch(
      /^MCP servers\n {2}ok {6}files +answers, \d+ tools\n {2}MISSING missing +program not found: parlance-no/m,
    );
    await until('the server is gone', () => processesWith(folder).length === 0);
  });
});

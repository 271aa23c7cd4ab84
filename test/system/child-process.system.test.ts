import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ProgramCall, ProgramExit } from '../../engines/contract/index.ts';
import { findExecutable } from '../../lib/find-executable.ts';
import { runProgram, startProgram } from '../../src/system/child-process/child.ts';
import { processes } from '../support/proc.ts';
import { processesWith, startNode, until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const modulePath = resolve(import.meta.dirname, '../../src/system/child-process/child.ts');

/** The longest that a program may live on when no one wants it any more. */
const soonMs = 250;

let cwd: string;
/** A text that no other process has among its arguments: `sleep` takes it for five minutes. */
let mark: string;

beforeEach(async () => {
  cwd = await temporaryDirectory();
  mark = `300.${String(process.pid)}${String(Date.now())}`;
});

afterEach(() => {
  vi.unstubAllEnvs();
  expect(processesWith(mark)).toEqual([]);
});

type Call = Partial<ProgramCall>;

const run = (program: string, args: readonly string[] = [], call: Call = {}): Promise<ProgramExit> =>
  runProgram(program, args, { signal: new AbortController().signal, timeoutMs: 30_000, cwd, ...call });

const shell = (script: string, call?: Call) => run('/bin/sh', ['-c', script], call);

const marked = () => processesWith(mark).length;

describe('a program', () => {
  it('receives its arguments unchanged', async () => {
    const args = [
      '',
      ' ',
      'a b',
      '"',
      "'",
      '$(id)',
      '`id`',
      '$HOME',
      '*',
      'a\nb',
      '\\',
      '--',
      '-rf',
      ';',
      '> x',
      '日本',
    ];
    const source = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const { code, stdout } = await run(process.execPath, ['-e', source, '--', ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(args);
  });

  it('inherits only the listed variables: no API keys', async () => {
    for (const name of ['OPENAI_API_KEY', 'API_KEYS', 'AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS', 'LD_PRELOAD']) {
      vi.stubEnv(name, 'sk-secret');
    }
    vi.stubEnv('LANG', 'C.UTF-8');
    const { stdout } = await run('/usr/bin/env');
    const names = stdout.trimEnd().split('\n').map((line) => line.slice(0, line.indexOf('='))); // prettier-ignore
    expect(names).toEqual(expect.arrayContaining(['PATH', 'LANG']));
    for (const name of names) expect(['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH']).toContain(name);
    expect(stdout).not.toContain('sk-secret');
  });

  it('receives additional environment variables', async () => {
    vi.stubEnv('LANG', 'C.UTF-8');
    const { stdout } = await run('/usr/bin/env', [], { env: { LANG: 'de_DE.UTF-8', CXX: 'c++' } });
    const lines = stdout.split('\n');
    expect(lines).toEqual(expect.arrayContaining(['LANG=de_DE.UTF-8', 'CXX=c++']));
    expect(lines).not.toContain('LANG=C.UTF-8');
  });

  it('reports each line immediately, from stdout and stderr', async () => {
    const lines: string[] = [];
    const caller = new AbortController();
    const onLine = (line: string) => {
      lines.push(line);
      if (lines.length === 1) writeFileSync(join(cwd, 'told'), '');
      if (lines.length === 2) caller.abort(new Error('two lines are enough'));
    };
    const script = 'echo first; until [ -e told ]; do sleep 0.01; done; echo second >&2; sleep 60; echo third';
    await expect(shell(script, { signal: caller.signal, onLine })).rejects.toThrow('two lines are enough');
    expect(lines).toEqual(['first', 'second']);
  });

  it('may write a line without an end: what it has beyond 1 MiB is dropped', async () => {
    const lines: string[] = [];
    const script = `head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; head -c 2000000 /dev/zero >&2`;
    await shell(script, { onLine: (line) => lines.push(line) });
    expect(lines.map(({ length }) => length).toSorted()).toEqual([1_048_576, 1_048_576, 4]);
  });

  it('is killed when its line cannot be handled, and the call rejects with the error', async () => {
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      throw new TypeError('not a line');
    };
    await expect(shell(`echo first; echo second; sleep ${mark}`, { onLine })).rejects.toThrow('not a line');
    expect(lines).toEqual(['first']);
  });

  it('that leaves a daemon with its pipes ends with its own exit', async () => {
    const daemon = `setsid sh -c 'echo $$ > daemon; exec sleep 300' &`;
    onTestFinished(() => void process.kill(Number(readFileSync(join(cwd, 'daemon'), 'utf8')), 'SIGKILL'));
    const script = `${daemon} until [ -s daemon ]; do sleep 0.01; done; echo out; echo err >&2; exit 3`;
    expect(await shell(script)).toEqual({ code: 3, signal: null, timedOut: false, stdout: 'out\n', stderr: 'err\n' });
  });

  it('runs in the given directory, with empty stdin', async () => {
    const { stdout } = await shell('pwd; cat; echo end');
    expect(stdout).toBe(`${cwd}\nend\n`);
  });

  it('is found on PATH', async () => {
    expect((await run('sh', ['-c', 'echo here'])).stdout).toBe('here\n');
  });

  it.each([
    ['its exit code', 'echo out; echo err >&2; exit 3', { code: 3, signal: null }],
    ['the signal that ended it', 'echo out; echo err >&2; kill -TERM $$', { code: null, signal: 'SIGTERM' }],
    ['a crash', 'echo out; echo err >&2; kill -SEGV $$', { code: null, signal: 'SIGSEGV' }],
  ])('reports %s', async (_what, script, exit) => {
    expect(await shell(`ulimit -c 0; ${script}`)).toEqual({
      ...exit,
      timedOut: false,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('may write a lot without blocking, and the last 64 KB are kept', async () => {
    const flood = (fd: number) => `(head -c 20000000 /dev/zero | tr '\\0' x; echo " end of ${fd}") >&${fd}`;
    const { code, stdout, stderr } = await shell(`${flood(1)} & ${flood(2)} & wait`);
    expect(code).toBe(0);
    expect(stdout).toHaveLength(65_536);
    expect(stdout).toMatch(/^x+ end of 1\n$/);
    expect(stderr).toMatch(/^x+ end of 2\n$/);
    expect(stderr).toHaveLength(65_536);
  });

  it('may write invalid UTF-8', async () => {
    const { stdout } = await shell(`printf 'a\\377b'`);
    expect(stdout).toBe('a\ufffdb');
  });
});

describe('a start rejects for', () => {
  it.each([
    ['a path where there is nothing', async () => Promise.resolve(join(cwd, 'nothing'))],
    ['a name that is not on PATH', async () => Promise.resolve('parlance-no-such-program')],
    ['a directory', async () => (await mkdir(join(cwd, 'folder')), join(cwd, 'folder'))],
    ['a file that may not be run', async () => (await writeFile(join(cwd, 'text'), '#!/bin/sh\n'), join(cwd, 'text'))],
  ])('%s', async (_what, make) => {
    const program = await make();
    await expect(run(program)).rejects.toThrow(`${program} could not be started`);
  });

  it('a missing working directory', async () => {
    await expect(run('/bin/sh', ['-c', 'true'], { cwd: join(cwd, 'nowhere') })).rejects.toThrow('could not be started');
  });

  it('an aborted signal', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(shell(`touch ${cwd}/started`, { signal })).rejects.toThrow('gone');
    await expect(shell('ls')).resolves.toMatchObject({ stdout: '' });
  });
});

describe('a program and its children are killed', () => {
  /** Shells in shells, at the end of which something sleeps; in the foreground or not. */
  const family = () => `sleep ${mark} & sh -c 'sleep ${mark} & sh -c "sleep ${mark}; true"; true' & wait`;

  it('on abort, and the call rejects with the reason', async () => {
    const caller = new AbortController();
    const call = shell(family(), { signal: caller.signal });
    const outcome = call.catch((error: unknown) => error);
    await until('the family is running', () => marked() >= 5);
    const reason = new Error('the caller has left');
    const sinceLeft = startStopwatch();
    caller.abort(reason);
    expect(await outcome).toBe(reason);
    await until('no process is left', () => marked() === 0, soonMs);
    expect(sinceLeft()).toBeLessThan(soonMs);
  });

  it('on timeout, and the exit says so', async () => {
    const timeoutMs = 2_000; // on a busy machine it takes a while until the shell has said its word
    const started = performance.now();
    const exit = await shell(`echo said; ${family()}`, { timeoutMs });
    expect(exit).toEqual({ code: null, signal: 'SIGKILL', timedOut: true, stdout: 'said\n', stderr: '' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(timeoutMs - 1);
    await until('no process is left', () => marked() === 0, soonMs);
  });

  it('even when it ignores signals', async () => {
    const stubborn = `trap '' TERM INT HUP; sleep ${mark} & while :; do wait; done`;
    const exit = await shell(stubborn, { timeoutMs: 1_000 }); // by then it has set its traps
    expect(exit.signal).toBe('SIGKILL');
    await until('no process is left', () => marked() === 0, soonMs);
  });

  it('when it exits, so that its children are not awaited', async () => {
    const exit = await shell(`sleep ${mark} & echo done`);
    expect(exit).toMatchObject({ code: 0, stdout: 'done\n', timedOut: false });
    await until('no process is left', () => marked() === 0, soonMs);
  });

  it('on kill()', async () => {
    const options = { signal: new AbortController().signal, timeoutMs: 30_000, cwd };
    const { stdout, exit, kill } = startProgram('/bin/sh', ['-c', family()], options);
    stdout.resume();
    await until('the family is running', () => marked() >= 5);
    kill();
    expect(await exit).toMatchObject({ signal: 'SIGKILL', timedOut: false });
    await until('no process is left', () => marked() === 0, soonMs);
    kill(); // once more does no harm
  });

  it('without leaking a listener on a long-lived signal', async () => {
    const caller = new AbortController();
    const added = vi.spyOn(caller.signal, 'addEventListener');
    const removed = vi.spyOn(caller.signal, 'removeEventListener');
    await shell('true', { signal: caller.signal });
    expect(added).toHaveBeenCalledOnce();
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });
});

describe('programs end with the service:', () => {
  /** A process that runs the family and then does what it is told to do once a line comes on its stdin. */
  function startService(then: string) {
    const script = `sleep ${mark} & wait`;
    const source = `
      import { runProgram } from ${JSON.stringify(modulePath)};
      import { existsSync } from 'node:fs';
      const options = { signal: new AbortController().signal, timeoutMs: 60_000, cwd: '/' };
      runProgram('/bin/sh', ['-c', process.argv[1]], options).catch(() => {});
      const timer = setInterval(() => { if (existsSync(process.argv[2])) { clearInterval(timer); ${then} } }, 5);`;
    return startNode(source, [script, join(cwd, 'go')]);
  }
  const go = () => writeFile(join(cwd, 'go'), '');
  // The service's own command line has the mark in it too.
  const running = 3;

  it.each([
    ['process.exit', 'process.exit(0);'],
    ['an uncaught error', "throw new Error('boom');"],
  ])('on %s, the whole family', async (_how, then) => {
    const service = startService(then);
    await until('the family is running', () => marked() === running);
    await go();
    await service.ended;
    await until('no process is left', () => marked() === 0, soonMs);
  });

  it.runIf(process.platform === 'linux')('when it is SIGKILLed, the program itself', async () => {
    const source = `
      import { runProgram } from ${JSON.stringify(modulePath)};
      const options = { signal: new AbortController().signal, timeoutMs: 60_000, cwd: '/' };
      runProgram('/bin/sleep', [process.argv[1]], options);`;
    const service = startNode(source, [mark]);
    // Until setpriv has become the program, it may not have asked yet to end with its parent.
    await until('the program is running', () => processes().some((it) => it.commandLine === `/bin/sleep ${mark}`));
    service.child.kill('SIGKILL');
    await service.ended;
    await until('no process is left', () => marked() === 0, soonMs);
  });
});

describe('findExecutable', () => {
  const program = async (path: string) => {
    await mkdir(resolve(cwd, path, '..'), { recursive: true });
    await writeFile(join(cwd, path), '#!/bin/sh\n');
    await chmod(join(cwd, path), 0o755);
    return join(cwd, path);
  };

  it('takes the first match on PATH', async () => {
    await mkdir(join(cwd, 'a/tool'), { recursive: true });
    await mkdir(join(cwd, 'b'));
    await writeFile(join(cwd, 'b/tool'), 'may not be run');
    const first = await program('c/tool');
    await program('d/tool');
    expect(findExecutable('tool', ['a', 'b', 'c', 'd'].map((name) => join(cwd, name)).join(':'))).toBe(first);
  });

  it('takes an absolute path if it is executable', async () => {
    const path = await program('c/tool');
    expect(findExecutable(path, '')).toBe(path);
    expect(findExecutable(join(cwd, 'c'), '')).toBeUndefined();
    expect(findExecutable(join(cwd, 'c/other'), '')).toBeUndefined();
  });

  it('never searches the working directory', async () => {
    await program('tool');
    const before = process.cwd();
    try {
      process.chdir(cwd);
      for (const searchPath of ['', ':', '.', 'bin:.:', '/nowhere:'])
        expect(findExecutable('tool', searchPath)).toBeUndefined();
    } finally {
      process.chdir(before);
    }
  });
});

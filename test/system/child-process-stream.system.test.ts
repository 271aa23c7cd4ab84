/** Programs that are fed through stdin and read through stdout, as they go. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RunningProgram, StreamingCall } from '../../engines/contract/index.ts';
import { streamProgram } from '../../src/system/child-process/stream-program.ts';
import { processes } from '../support/proc.ts';
import { processesWith, startNode, until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const soonMs = 250;

let cwd: string;
/** A text that no other process has among its arguments: `sleep` takes it for five minutes. */
let mark: string;

beforeEach(async () => {
  cwd = await temporaryDirectory();
  mark = `300.${String(process.pid)}${String(Date.now())}`;
});

afterEach(async () => until('no process is left', () => marked() === 0, soonMs));

const marked = () => processesWith(mark).length;

function shell(script: string, call: Partial<StreamingCall> = {}): RunningProgram {
  const standard = { signal: new AbortController().signal, timeoutMs: 30_000, cwd, input: '' };
  return streamProgram('/bin/sh', ['-c', script, mark], { ...standard, ...call });
}

async function read(output: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of output) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield await Promise.resolve(Buffer.alloc(10_000));
}

describe('a program', () => {
  it('receives input and returns output of any length', async () => {
    const text = 'grüße, 日本 🙂\n'.repeat(100_000);
    const { output, exit } = shell('cat; echo said >&2; exit 3', { input: text });
    expect(await read(output)).toBe(text);
    expect(await exit).toEqual({ code: 3, signal: null, timedOut: false, stdout: '', stderr: 'said\n' });
  });

  it('that leaves a daemon with its pipes ends with its own exit, and a slow reader gets all of its output', async () => {
    const bytes = 80_000; // more than the stream's buffer takes, and little enough for the program not to wait
    const daemon = `setsid sh -c 'echo $$ > daemon; exec sleep 300' &`;
    onTestFinished(() => void process.kill(Number(readFileSync(join(cwd, 'daemon'), 'utf8')), 'SIGKILL'));
    const ready = 'until [ -s daemon ]; do sleep 0.01; done';
    const { output, exit } = shell(`${daemon} ${ready}; head -c ${bytes} /dev/zero; exit 3`);
    await until('the program has exited', () => marked() === 0);
    await sleep(1_200); // longer than the pipes are kept open for a reader
    expect(await read(output)).toHaveLength(bytes);
    expect(await exit).toMatchObject({ code: 3 });
  });

  it('receives streamed input', async () => {
    async function* input() {
      for (const word of ['one ', 'two ', 'three']) yield await Promise.resolve(Buffer.from(word));
    }
    expect(await read(shell('cat', { input: input() }).output)).toBe('one two three');
  });

  it.each(['before', 'after'])(
    'that has exited leaves no pipe open, if its output is not read: aborted %s',
    async (when) => {
      const caller = new AbortController();
      const pipes = () => readdirSync('/proc/self/fd').length;
      const open = pipes();
      const { exit } = shell(`echo unread; : ${mark}`, { signal: caller.signal });
      if (when === 'after') await until('it has exited', () => marked() === 0);
      caller.abort(new Error('the caller has gone'));
      await expect(exit).rejects.toThrow('the caller has gone');
      await until('its pipes are closed', () => pipes() <= open);
    },
  );

  it('streams its output', async () => {
    const chunks = shell(`echo first; exec sleep ${mark}`).output[Symbol.asyncIterator]();
    const { value } = (await chunks.next()) as { value: Uint8Array };
    expect(Buffer.from(value).toString()).toBe('first\n');
    await chunks.return?.();
  });

  it('loses no output when it exits before the first read', async () => {
    const { output, exit } = shell('echo all of it');
    await until('it has ended', () => marked() === 0);
    await new Promise((resolve) => setTimeout(resolve, 50)); // its end is known here too
    expect(await read(output)).toBe('all of it\n');
    expect((await exit).code).toBe(0);
  });

  it('may exit before reading its input', async () => {
    const { output, exit } = shell('echo enough', { input: 'x'.repeat(10_000_000) });
    expect(await read(output)).toBe('enough\n');
    expect((await exit).code).toBe(0);
    const other = shell('head -c 5', { input: endless() });
    expect(await read(other.output)).toHaveLength(5);
  });

  it('is paused by backpressure', async () => {
    let taken = 0;
    async function* counted() {
      for await (const chunk of endless()) {
        taken += chunk.length;
        yield chunk;
      }
    }
    const chunks = shell('exec cat', { input: counted() }).output[Symbol.asyncIterator]();
    await chunks.next();
    let before = -1;
    await until('it stands still', () => {
      const still = before === taken;
      before = taken;
      return still;
    });
    expect(taken).toBeLessThan(2_000_000);
    await chunks.return?.();
  });
});

describe('a program and its children are killed', () => {
  it('when the reader of its output returns', async () => {
    const { output, exit } = shell(`sleep ${mark} & yes`);
    for await (const chunk of output) if (chunk.length > 0) break;
    await until('no process is left', () => marked() === 0, soonMs);
    await exit;
  });

  it('on abort, and output and exit reject with the reason', async () => {
    const caller = new AbortController();
    const { output, exit } = shell(`sleep ${mark} & cat; wait`, { input: endless(), signal: caller.signal });
    const outcome = read(output).catch((error: unknown) => error);
    await until('the family is running', () => marked() >= 2);
    const reason = new Error('the caller has left');
    const sinceLeft = startStopwatch();
    caller.abort(reason);
    expect(await outcome).toBe(reason);
    await expect(exit).rejects.toBe(reason);
    await until('no process is left', () => marked() === 0, soonMs);
    expect(sinceLeft()).toBeLessThan(soonMs);
  });

  it('on abort without a pending read', async () => {
    const caller = new AbortController();
    const { output, exit } = shell('yes', { signal: caller.signal });
    const chunks = output[Symbol.asyncIterator]();
    await chunks.next();
    caller.abort(new Error('gone'));
    await expect(exit).rejects.toThrow('gone');
    await expect(read({ [Symbol.asyncIterator]: () => chunks })).rejects.toThrow('gone');
  });

  it('on timeout', async () => {
    const { output, exit } = shell(`exec sleep ${mark}`, { timeoutMs: 200 });
    await expect(read(output)).rejects.toThrow('the program was killed by SIGKILL');
    expect(await exit).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
  });

  it('when its input fails, and the output rejects with the error', async () => {
    const failure = new Error('no more input');
    async function* failing() {
      yield Buffer.from('some');
      await Promise.resolve();
      throw failure;
    }
    const { output } = shell('exec cat', { input: failing() });
    await expect(read(output)).rejects.toBe(failure);
  });

  it.runIf(process.platform === 'linux')('when the service is SIGKILLed', async () => {
    const modulePath = resolve(import.meta.dirname, '../../src/system/child-process/stream-program.ts');
    const source = `
      import { streamProgram } from ${JSON.stringify(modulePath)};
      const options = { signal: new AbortController().signal, timeoutMs: 60_000, cwd: '/', input: 'x' };
      streamProgram('/bin/sleep', [process.argv[1]], options);
      setInterval(() => {}, 1000);`;
    const service = startNode(source, [mark]);
    // Until setpriv has become the program, it may not have asked yet to end with its parent.
    await until('the program is running', () => processes().some((it) => it.commandLine === `/bin/sleep ${mark}`));
    service.child.kill('SIGKILL');
    await service.ended;
    await until('no process is left', () => marked() === 0, soonMs);
  });
});

describe('a program that fails to start', () => {
  it('throws immediately', () => {
    const call = { signal: new AbortController().signal, timeoutMs: 1000, cwd, input: '' };
    expect(() => streamProgram(join(cwd, 'nothing'), [], call)).toThrow('program not found');
    const gone = AbortSignal.abort(new Error('gone'));
    expect(() => streamProgram('/bin/sh', [], { ...call, signal: gone })).toThrow('gone');
  });

  it('rejects output and exit if its working directory is missing', async () => {
    const { output, exit } = shell('true', { cwd: join(cwd, 'nowhere') });
    await expect(read(output)).rejects.toThrow('could not be started');
    await expect(exit).rejects.toThrow('could not be started');
  });
});

/** Programs that stay loaded: a real process that does what its questions say. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Resident, ResidentCall, ResidentProgram } from '../../../engines/contract/index.ts';
import { createResidents } from '../../../src/engine-host/resident/index.ts';
import type { MemoryBudget } from '../../../src/engine-host/resident/memory-plan.ts';
import { startNode } from '../../support/processes.ts';

const host = `
  import { createInterface } from 'node:readline';
  import { appendFileSync, writeSync } from 'node:fs';
  const [journal, ...modes] = process.argv.slice(2);
  appendFileSync(journal, process.pid + '\\n');
  const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
  if (modes.includes('broken')) process.exit(4);
  const hide = (text) => writeSync(2, 'library.cc:128\\n\\nCaught exception:\\n\\n' + text + '\\n\\nReturn nothing.\\n');
  if (modes.includes('hiding')) hide('bad weights');
  if (!modes.includes('silent')) say({ ready: true });
  createInterface({ input: process.stdin }).on('close', () => process.exit(0)).on('line', (line) => {
    const { id, cancel, does, ...rest } = JSON.parse(line);
    if (cancel !== undefined) {
      if (modes.includes('rash')) process.kill(process.pid, 'SIGKILL');
      else if (!modes.includes('deaf')) say({ id: cancel, error: 'cancelled' });
    }
    else if (does === 'echo') { say({ id, part: 1 }); say({ id, part: 2 }); say({ id, done: rest }); }
    else if (does === 'hide') { hide('bad shape'); say({ id, done: '' }); }
    else if (does === 'fail') say({ id, error: 'no such file /secret' });
    else if (does === 'crash') process.exit(3);
    else if (does === 'throw') throw new Error('cannot read ' + rest.text);
    else if (does === 'quote') { console.error('reading'); console.error('got ' + line); process.exit(3); }
    else if (does === 'noise') process.stdout.write('hello\\n');
    else if (does === 'mute') { process.stdout.end(); setInterval(() => {}, 1e6); }
    else if (does === 'flood') process.stdout.write('x'.repeat(2_000_000));
    else if (does === 'strangers') { say({ id: 99, done: 1 }); say({ id: 'constructor', part: 1 }); say({ id, done: 'mine' }); }
    else say({ id, hanging: true });
  });
`;

/** A host of ours: what it throws quotes the question. */
const ownHost = `
  import { serveQuestions } from ${JSON.stringify(new URL('../../../engines/lib/host-program/host-program.ts', import.meta.url))};
  serveQuestions(({ does, text }) => {
    const error = Object.assign(new Error('cannot read ' + text), { code: 'E_OWN' });
    if (does === 'fail') return Promise.reject(error);
    return new Promise(() => setImmediate(() => { throw error; }));
  });
`;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parlance-resident-'));
  await writeFile(join(directory, 'host.mjs'), host);
  await writeFile(join(directory, 'own-host.mjs'), ownHost);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

let journals = 0;

interface Options extends Partial<Omit<ResidentProgram, 'args'>> {
  readonly modes?: readonly string[];
}

/** Residents that end with the test; each program writes its pid into a journal of its own. */
function residents(budget: Partial<MemoryBudget> = {}) {
  const all = createResidents({ bytes: 2 ** 40, isStrict: false, ...budget });
  onTestFinished(() => all[Symbol.dispose]());
  const logged: string[] = [];
  const log = (_facts: object, message: string) => void logged.push(message);
  return {
    all,
    logged,
    open({ modes = [], ...options }: Options = {}) {
      const journal = join(directory, `${(journals += 1)}`);
      const args = [join(directory, 'host.mjs'), journal, ...modes];
      const program = { name: 'model', program: process.execPath, args, memory: 1_000, idleUnloadMs: 0, ...options };
      const resident = all.open('engine', program, { debug: log, info: log, warn: log, error: log });
      const starts = async () => (await readFile(journal, 'utf8').catch(() => '')).split('\n').slice(0, -1).map(Number);
      return { resident, program, starts };
    },
  };
}

const { signal: never } = new AbortController();
const ask = (resident: Resident, does: string, signal = never, more: object = {}) =>
  resident.call({ does, ...more }, { signal });

/** Resolves once the program works on the call. */
function hang(resident: Resident, signal: AbortSignal, onMessage: ResidentCall['onMessage'] = () => {}) {
  const working = Promise.withResolvers<undefined>();
  const call = { signal, onMessage: (message: Readonly<Record<string, unknown>>) => (working.resolve(undefined), onMessage(message)) }; // prettier-ignore
  const done = resident.call({ does: 'hang' }, call);
  done.catch(() => {});
  return { done, working: working.promise };
}

const isAlive = (pid: number | undefined): boolean => {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
};

describe('a failure that the library only prints', () => {
  const failure = /Caught exception:\s+[^\n]+\n/;

  test('is a message of the calls in progress, before they end', async () => {
    const { resident } = residents().open({ failure });
    const stop = new AbortController();
    const found: unknown[] = [];
    const onMessage = (message: Readonly<Record<string, unknown>>) => void found.push(message.failure);
    const other = hang(resident, stop.signal, onMessage);
    await other.working;
    found.length = 0;
    expect(await resident.call({ does: 'hide' }, { signal: never, onMessage })).toBe('');
    expect(found).toEqual(Array.from({ length: 2 }, () => 'Caught exception:\n\nbad shape\n'));
    stop.abort(new Error('stop'));
    await expect(other.done).rejects.toThrow('stop');
    expect(await ask(resident, 'echo')).toEqual({});
  });

  test('ends a program that is loading, which is broken until it can be loaded', async () => {
    const { resident } = residents().open({ failure, modes: ['hiding'] });
    const error: unknown = await ask(resident, 'echo').catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'engine-failed', cause: { message: expect.stringContaining('bad weights') as string } }); // prettier-ignore
    expect(resident.isBroken).toBe(true);
  });
});

test('a program is broken if it ends before it is loaded, but not if it is killed or ends later', async () => {
  const { open } = residents();
  const { resident } = open({ modes: ['broken'] });
  await expect(ask(resident, 'echo')).rejects.toMatchObject({ code: 'engine-failed' });
  expect(resident.isBroken).toBe(true);
  const killed = open({ name: 'killed', modes: ['silent'] });
  const call = ask(killed.resident, 'echo');
  await expect.poll(killed.starts).toHaveLength(1);
  process.kill((await killed.starts())[0] ?? 0, 'SIGKILL');
  await expect(call).rejects.toMatchObject({ code: 'engine-failed' });
  const crashed = open({ name: 'crashed' });
  await expect(ask(crashed.resident, 'crash')).rejects.toMatchObject({ code: 'engine-failed' });
  expect([killed, crashed].map((one) => one.resident.isBroken)).toEqual([false, false]);
});

describe('a resident program', () => {
  test('is started by its first call, and serves the next ones in the same process', async () => {
    const { resident, starts } = residents().open();
    expect(resident.state).toBe('unloaded');
    expect(await starts()).toEqual([]);
    const messages: object[] = [];
    const call = { signal: never, onMessage: (message: object) => void messages.push(message) };
    expect(await resident.call({ does: 'echo', text: 'über' }, call)).toEqual({ text: 'über' });
    expect(messages).toEqual([{ part: 1 }, { part: 2 }]);
    expect(await ask(resident, 'echo')).toEqual({});
    expect(await starts()).toHaveLength(1);
    expect(resident.state).toBe('loaded');
  });

  test('answers several questions at once, each its own', async () => {
    const { resident, starts } = residents().open();
    const answers = await Promise.all([1, 2, 3].map((n) => ask(resident, 'echo', never, { n })));
    expect(answers).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await starts()).toHaveLength(1);
  });

  test('can be loaded ahead of the first call', async () => {
    const { resident, starts } = residents().open();
    resident.preload();
    expect(resident.state).toBe('loading');
    await expect.poll(() => resident.state).toBe('loaded');
    resident.preload();
    await ask(resident, 'echo');
    expect(await starts()).toHaveLength(1);
  });

  test('is unloaded when no one has called it for a while, and loaded again', async () => {
    const { all, open } = residents();
    const { resident, starts } = open({ idleUnloadMs: 1 });
    await ask(resident, 'echo');
    const [first] = await starts();
    await expect.poll(() => isAlive(first)).toBe(false);
    expect(resident.state).toBe('unloaded');
    expect(await ask(resident, 'echo')).toEqual({});
    expect(await starts()).toHaveLength(2);
    expect(all.facts()).toMatchObject([{ engine: 'engine', name: 'model', loads: 2, crashes: 0 }]);
  });

  test('is loaded again after a crash, which fails the calls that it serves', async () => {
    const { all, open, logged } = residents();
    const { resident, starts } = open();
    const other = hang(resident, never);
    await other.working;
    await expect(ask(resident, 'crash')).rejects.toMatchObject({
      code: 'engine-failed',
      message: 'The loaded model failed.',
    });
    await expect(other.done).rejects.toMatchObject({ code: 'engine-failed' });
    expect(logged).toContain('a loaded model has crashed');
    expect(await ask(resident, 'echo')).toEqual({});
    expect(await starts()).toHaveLength(2);
    expect(all.facts()).toMatchObject([{ crashes: 1, loads: 2 }]);
  });

  test('that was killed while it was idle is loaded again for the calls that come before its exit is seen', async () => {
    const { all, open } = residents();
    const { resident, starts } = open();
    await ask(resident, 'echo');
    const [first] = await starts();
    process.kill(first!, 'SIGKILL');
    const answers = await Promise.all([1, 2].map((n) => ask(resident, 'echo', never, { n })));
    expect(answers).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await starts()).toHaveLength(2);
    expect(all.facts()).toMatchObject([{ crashes: 1, loads: 2 }]);
  });

  test.each([
    ['ends it is asked once more, and then fails', 'crash', 2],
    ['is answered with an error fails at once', 'fail', 1],
  ])('that is idle: a call that %s', async (_what, does, processes) => {
    const { resident, starts } = residents().open();
    await ask(resident, 'echo');
    await expect(ask(resident, does)).rejects.toMatchObject({ code: 'engine-failed' });
    expect(await starts()).toHaveLength(processes);
  });

  test('that ends after a part of its answer is not asked again', async () => {
    const { resident, starts } = residents().open();
    await ask(resident, 'echo');
    const { done, working } = hang(resident, never);
    await working;
    const [first] = await starts();
    process.kill(first!, 'SIGKILL');
    await expect(done).rejects.toMatchObject({ code: 'engine-failed' });
    expect(await starts()).toHaveLength(1);
  });

  test.each([
    ['throws', 'host.mjs', 'throw', /^Node\.js v/],
    ['prints a question', 'host.mjs', 'quote', /^\[a line with JSON\]$/],
    ['is ours and throws', 'own-host.mjs', 'throw', /^Error E_OWN at .*own-host\.mjs/],
  ])('that %s is logged once, and without what it was asked', async (_what, script, does, output) => {
    const { all } = residents();
    const lines: string[] = [];
    const log = (facts: object, message: string) => void lines.push(`${message} ${inspect(facts, { depth: 9 })}`);
    const args = [join(directory, script), join(directory, 'own')];
    const program = { name: 'model', program: process.execPath, args, memory: 1_000, idleUnloadMs: 0 };
    const resident = all.open('engine', program, { debug: log, info: log, warn: log, error: log });
    const failure = await ask(resident, does, never, { text: 'a private word' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'engine-failed' });
    const crashes = lines.filter((line) => line.startsWith('a loaded model has crashed'));
    expect(crashes).toHaveLength(1);
    expect(/output: '(.*)'/.exec(crashes[0]!)?.[1]).toMatch(output);
    expect(`${lines.join()} ${inspect(failure)}`).not.toContain('private');
    expect(inspect(failure)).not.toContain('Node.js v');
  });

  test('of ours says where a question failed, without its words', async () => {
    const { all } = residents();
    const program = { name: 'model', program: process.execPath, args: [join(directory, 'own-host.mjs')], memory: 1_000, idleUnloadMs: 0 }; // prettier-ignore
    const resident = all.open('engine', program, { debug() {}, info() {}, warn() {}, error() {} });
    const failure = await ask(resident, 'fail', never, { text: 'a private word' }).catch((error: unknown) => error);
    expect(inspect(failure)).toMatch(/cause.* Error E_OWN at /);
    expect(inspect(failure)).not.toContain('private');
  });

  test('that crashes three times within a minute is not started for a minute', async () => {
    const { resident, starts } = residents().open({ modes: ['broken'] });
    for (let n = 0; n < 3; n++) await expect(ask(resident, 'echo')).rejects.toMatchObject({ code: 'engine-failed' });
    expect(resident.isFree).toBe(false);
    await expect(ask(resident, 'echo')).rejects.toMatchObject({ code: 'model-unavailable', retryAfter: 60 });
    resident.preload();
    expect(await starts()).toHaveLength(3);
  });

  test('that does not exist is a failure of the call, and no crash', async () => {
    const { all, open } = residents();
    const { resident } = open({ program: '/nowhere/whisper-host' });
    for (let n = 0; n < 4; n++) {
      await expect(ask(resident, 'echo')).rejects.toThrow(
        '/nowhere/whisper-host could not be started: program not found',
      );
    }
    expect(resident.state).toBe('unloaded');
    expect(all.facts()).toMatchObject([{ crashes: 0 }]);
  });

  test('is asked in valid UTF-8', async () => {
    const { resident } = residents().open();
    expect(await ask(resident, 'echo', never, { text: 'half a \ud800' })).toEqual({ text: 'half a \ufffd' });
  });

  test.each([{ memory: NaN }, { memory: -1 }, { idleUnloadMs: NaN }, { idleUnloadMs: -1 }])(
    'has a size and a time that can be counted: not %o',
    (numbers) => {
      expect(() => residents().open(numbers)).toThrow(TypeError);
    },
  );

  test('tells only the log why it failed', async () => {
    const { resident } = residents().open();
    const error = await ask(resident, 'fail').catch((error: unknown) => error as Error);
    expect(error).toMatchObject({ code: 'engine-failed', message: 'The loaded model failed.' });
    expect((error as Error).cause).toMatchObject({ message: 'no such file /secret' });
  });

  test.each(['noise', 'flood', 'mute'])('that breaks the protocol (%s) is killed', async (does) => {
    const { resident, starts } = residents().open();
    await expect(ask(resident, does)).rejects.toMatchObject({ code: 'engine-failed' });
    expect((await starts()).some(isAlive)).toBe(false);
    expect(await ask(resident, 'echo')).toEqual({});
  });

  test('may answer questions that no one has asked: they reach no one', async () => {
    const { resident } = residents().open();
    expect(await ask(resident, 'strangers')).toBe('mine');
  });

  describe('on an abort', () => {
    test('stops one call, and the others continue', async () => {
      const { resident, starts } = residents().open();
      const controller = new AbortController();
      const [one, other] = [hang(resident, controller.signal), hang(resident, never)];
      await Promise.all([one.working, other.working]);
      controller.abort(new Error('left'));
      await expect(one.done).rejects.toThrow('left');
      expect(await ask(resident, 'echo')).toEqual({});
      expect(await starts()).toHaveLength(1);
    });

    test('is killed when it does not listen and serves no one else; that is no crash', async () => {
      const { all, open, logged } = residents();
      const { resident, starts } = open({ modes: ['deaf'] });
      const controller = new AbortController();
      const call = hang(resident, controller.signal);
      await call.working;
      controller.abort(new Error('left'));
      await expect(call.done).rejects.toThrow('left');
      expect(await ask(resident, 'echo')).toEqual({}); // by another process: this one may still be ending
      const [pid] = await starts();
      await expect.poll(() => isAlive(pid)).toBe(false);
      expect(all.facts()).toMatchObject([{ crashes: 0, loads: 2 }]);
      expect(logged).not.toContain('a loaded model has crashed');
    });

    test.each([
      ['serves the next call while it may still confirm', 1e6, 1],
      ['is killed when it has not confirmed in the time of its own', 300, 2],
    ])('%s', async (_what, confirmMs, loads) => {
      const { all, open } = residents();
      const { resident, starts } = open({ modes: ['deaf'], confirmMs });
      const controller = new AbortController();
      const call = hang(resident, controller.signal);
      await call.working;
      controller.abort(new Error('left'));
      await expect(call.done).rejects.toThrow('left');
      const [pid] = await starts();
      if (loads > 1) await expect.poll(() => isAlive(pid)).toBe(false);
      expect(await ask(resident, 'echo')).toEqual({});
      expect(all.facts()).toMatchObject([{ crashes: 0, loads }]);
    });

    test('may be answered by its end, if it serves no one else: that is no crash', async () => {
      const { all, open, logged } = residents();
      const { resident } = open({ modes: ['rash'] });
      const leave = async () => {
        const controller = new AbortController();
        const call = hang(resident, controller.signal);
        await call.working;
        controller.abort(new Error('left'));
        return call.done;
      };
      for (let n = 0; n < 3; n++) await expect(leave()).rejects.toThrow('left');
      expect(await ask(resident, 'echo')).toEqual({});
      expect(all.facts()).toMatchObject([{ crashes: 0, loads: 4 }]);
      const other = hang(resident, never);
      await other.working;
      await expect(leave()).rejects.toThrow('left');
      await expect(other.done).rejects.toMatchObject({ code: 'engine-failed' });
      expect(all.facts()).toMatchObject([{ crashes: 1 }]);
      expect(logged).toContain('a loaded model has crashed');
    });

    test('is not waited for while it loads, and is loaded all the same', async () => {
      const { resident } = residents().open();
      const controller = new AbortController();
      const done = ask(resident, 'echo', controller.signal);
      controller.abort(new Error('left'));
      await expect(done).rejects.toThrow('left');
      const again = new AbortController();
      await expect(ask(resident, 'echo', again.signal)).resolves.toEqual({});
    });

    test('that has come before the call starts nothing', async () => {
      const { resident, starts } = residents().open();
      await expect(ask(resident, 'echo', AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
      expect(resident.state).toBe('unloaded');
      expect(await starts()).toEqual([]);
    });

    test.each(['hang', 'echo'])('by a listener that throws, the call fails with its error (%s)', async (does) => {
      const { resident } = residents().open();
      const onMessage = () => {
        throw new Error('not for me');
      };
      await expect(resident.call({ does }, { signal: never, onMessage })).rejects.toThrow('not for me');
    });
  });

  test('ends with its process group when the service disposes of it, also while it loads', async () => {
    const { all, open } = residents();
    const [loaded, loading] = [open(), open({ name: 'other', modes: ['silent'] })];
    await ask(loaded.resident, 'echo');
    const waiting = ask(loading.resident, 'echo');
    waiting.catch(() => {});
    await expect.poll(loading.starts).toHaveLength(1);
    const pids = [...(await loaded.starts()), ...(await loading.starts())];
    all[Symbol.dispose]();
    await expect(waiting).rejects.toMatchObject({ code: 'engine-failed' });
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });

  test('ends with the service while it serves its last call, and when no one has waited for it', async () => {
    const { all, open } = residents();
    const replaced = open({ version: 'one' });
    const call = hang(replaced.resident, never);
    await call.working;
    const next = open({ version: 'two' });
    next.resident.preload();
    all[Symbol.dispose]();
    await expect(call.done).rejects.toMatchObject({ code: 'engine-failed' });
    expect((await replaced.starts()).some(isAlive)).toBe(false);
    await expect(ask(next.resident, 'echo')).rejects.toMatchObject({ code: 'model-unavailable' });
    expect(await next.starts()).toEqual([]);
  });

  test('ends when its parent is killed', async () => {
    const journal = join(directory, 'orphan');
    const { child, firstLine, ended } = startNode(
      `import { createResidents } from ${JSON.stringify(join(import.meta.dirname, '../../../src/engine-host/resident/index.ts'))};
       const log = { debug() {}, info() {}, warn() {}, error() {} };
       const program = { name: 'model', program: process.execPath, args: process.argv.slice(1), memory: 1, idleUnloadMs: 0 };
       const resident = createResidents({ bytes: 1e12, isStrict: false }).open('engine', program, log);
       await resident.call({ does: 'echo' }, { signal: new AbortController().signal });
       console.log('loaded');
       setInterval(() => {}, 1e6);`,
      [join(directory, 'host.mjs'), journal],
    );
    expect(await firstLine).toBe('loaded');
    const pid = Number(await readFile(journal, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await ended;
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('of another version takes the place of the one before, once that is idle', async () => {
    const { open } = residents();
    const { resident, starts, program } = open({ version: 'one' });
    const controller = new AbortController();
    const call = hang(resident, controller.signal);
    await call.working;
    const next = open({ version: 'two' });
    expect(next.resident).not.toBe(resident);
    await ask(next.resident, 'echo');
    expect((await starts()).some(isAlive)).toBe(true);
    controller.abort(new Error('left'));
    await expect(call.done).rejects.toThrow('left');
    await expect.poll(async () => (await starts()).some(isAlive)).toBe(false);
    expect((await next.starts()).some(isAlive)).toBe(true);
    expect(program.version).toBe('one');
  });

  test('that is asked for again with the same settings is the same', () => {
    const { all, open } = residents();
    const { resident, program } = open();
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    expect(all.open('engine', { ...program }, log)).toBe(resident);
    expect(all.open('another engine', { ...program }, log)).not.toBe(resident);
  });

  test('counts as what it was seen to use', async () => {
    const { all, open } = residents();
    await ask(open({ memory: 7 }).resident, 'echo');
    expect(all.facts()[0]!.bytes).toBeGreaterThan(10_000_000);
  });
});

describe('two models and memory for one', () => {
  test('take turns: the idle one is unloaded', async () => {
    const { open, all } = residents({ bytes: 1 });
    const [one, other] = [open({ name: 'one' }), open({ name: 'other' })];
    await ask(one.resident, 'echo');
    await ask(other.resident, 'echo');
    expect([one.resident.state, other.resident.state]).toEqual(['unloaded', 'loaded']);
    expect((await one.starts()).some(isAlive)).toBe(false);
    await ask(one.resident, 'echo');
    expect(all.facts().map(({ loads }) => loads)).toEqual([2, 1]);
  });

  test('wait for each other while one is busy', async () => {
    const { open } = residents({ bytes: 1 });
    const [one, other] = [open({ name: 'one' }), open({ name: 'other' })];
    const controller = new AbortController();
    const call = hang(one.resident, controller.signal);
    await call.working;
    expect(other.resident.isFree).toBe(false);
    other.resident.preload();
    expect(other.resident.state).toBe('unloaded');
    const waiting = ask(other.resident, 'echo');
    expect(other.resident.state).toBe('loading');
    controller.abort(new Error('left'));
    expect(await waiting).toEqual({});
    await expect(call.done).rejects.toThrow('left');
    expect(one.resident.state).toBe('unloaded');
  });

  test('a caller that leaves while it waits costs no one a model', async () => {
    const { open } = residents({ bytes: 1 });
    const [one, other] = [open({ name: 'one' }), open({ name: 'other' })];
    const [working, leaving] = [new AbortController(), new AbortController()];
    const call = hang(one.resident, working.signal);
    await call.working;
    const waiting = ask(other.resident, 'echo', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    working.abort(new Error('done'));
    await expect(call.done).rejects.toThrow('done');
    expect([one.resident.state, other.resident.state]).toEqual(['loaded', 'unloaded']);
    expect(await other.starts()).toEqual([]);
  });

  test('what can never fit is refused with both numbers where the operator wrote the budget', async () => {
    const { open } = residents({ bytes: 2 ** 20, isStrict: true });
    const { resident, starts } = open({ memory: 3 * 2 ** 20 });
    expect(resident.isFree).toBe(false);
    await expect(ask(resident, 'echo')).rejects.toMatchObject({
      code: 'model-unavailable',
      message: 'The model model needs 3 MB of memory; MEMORY_BUDGET is 1 MB.',
    });
    expect(resident.state).toBe('unloaded');
    await expect(ask(resident, 'echo')).rejects.toMatchObject({ code: 'model-unavailable' });
    expect(await starts()).toEqual([]);
  });
});

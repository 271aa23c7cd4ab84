/** A build that was interrupted: the next one goes on with the objects that are there. */
import { spawn } from 'node:child_process';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { buildWhisper, removeUnfinishedBuild } from '../../../engines/whisper-cli/build.ts';
import { acquireLock, lockOf } from '../../../engines/lib/download/lock.ts';
import { childrenAtWork } from '../../deployment/processes.ts';
import { describeWith } from '../../support/programs.ts';
import { buildOn, fakeSource, machine, pathWith, recordingLog, temporaryDirectory } from './support.ts';

const inSteps = { ...machine, cmake: 'cmake-in-steps' };

/** The objects that were compiled, in order. */
const compiled = (log: ReturnType<typeof recordingLog>): string[] =>
  log.entries.flatMap(({ facts }) => /CXX object (\S+)/.exec(JSON.stringify(facts))?.[1]?.replace(/"}$/, '') ?? []);

/** Stopped in the middle of its second object. `again` is the next build, whose npm has no network. */
async function interruptedBuild() {
  const home = await temporaryDirectory();
  const controller = new AbortController();
  const { build, dataDir, log } = await buildOn(inSteps, { signal: controller.signal });
  const first = buildWhisper({ ...build, env: { ...build.env, HOME: home } });
  await log.logged(({ facts }) => JSON.stringify(facts).includes('two.o'));
  controller.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  await writeFile(join(home, 'go-on'), '');
  const [left = ''] = (await readdir(dataDir)).filter((name) => name.startsWith('whisper-build-'));
  const laterLog = recordingLog();
  const env = { HOME: home, PATH: await pathWith({ ...inSteps, npm: 'npm-offline' }) };
  const again = { ...build, env, log: laterLog, signal: new AbortController().signal };
  return { again, build, dataDir, left: join(dataDir, left), log: laterLog };
}

test('what was compiled is kept, without npm, and only the rest is compiled', async () => {
  const { again, dataDir, left, log } = await interruptedBuild();
  expect(left).toMatch(/\/whisper-build-[0-9a-f]{16}$/);
  await buildWhisper(again);
  expect(compiled(log)).toEqual(['two.o', 'three.o']);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['bin', 'bin/whisper-cli']);
});

test('a build that cannot be resumed begins again', async () => {
  const { again, build, dataDir, left, log } = await interruptedBuild();
  await writeFile(join(left, 'out/one.o'), 'damaged');
  await buildWhisper({ ...again, env: { ...again.env, PATH: build.env.PATH } });
  expect(log.entries.map(({ message }) => message)).toContain(
    'an interrupted build cannot be resumed, and begins again',
  );
  expect(compiled(log)).toEqual(['one.o', 'two.o', 'three.o']);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['bin', 'bin/whisper-cli']);
});

describe('an interrupted build is removed, not resumed,', () => {
  test('that is a week old', async () => {
    const { again, build, dataDir, left, log } = await interruptedBuild();
    const old = new Date(Date.now() - 8 * 24 * 3_600_000);
    await utimes(left, old, old);
    await buildWhisper({ ...again, env: { ...again.env, PATH: build.env.PATH } });
    expect(compiled(log)).toEqual(['one.o', 'two.o', 'three.o']);
    expect(await readdir(dataDir)).toEqual(['bin']);
  });

  test('that is of another source', async () => {
    const { again, dataDir, left } = await interruptedBuild();
    const source = { ...fakeSource, integrity: 'sha512-another' };
    await expect(buildWhisper({ ...again, source })).rejects.toThrow('ENOTFOUND');
    expect(await readdir(dataDir)).not.toContain(left.slice(dataDir.length + 1));
  });

  test('when nothing is to be built any more, unless one is at work', async () => {
    const { dataDir, left } = await interruptedBuild();
    const options = { signal: new AbortController().signal, log: recordingLog() };
    const lock = await acquireLock(lockOf(join(dataDir, 'bin/whisper-cli')), options);
    await removeUnfinishedBuild(dataDir);
    expect(await readdir(dataDir)).toEqual(['bin', left.slice(dataDir.length + 1)]);
    await lock[Symbol.asyncDispose]();
    await removeUnfinishedBuild(dataDir);
    expect(await readdir(dataDir)).toEqual(['bin']);
    await removeUnfinishedBuild(join(dataDir, 'absent'));
  });
});

describeWith(['flock'], 'beside the compilers of a service that was SIGKILLed', ({ flock }) => {
  test('nothing is compiled until they have ended', async () => {
    const { again, left, log } = await interruptedBuild();
    const outliving = spawn(flock, [join(left, 'out'), 'sh', '-c', 'echo at work; read line'], { stdio: 'pipe' });
    onTestFinished(() => void outliving.kill('SIGKILL'));
    await new Promise((resolve) => outliving.stdout.once('data', resolve));
    const done = buildWhisper(again);
    await childrenAtWork(process.pid, /flock \S+out \S*cmake/);
    log.debug({}, 'they end');
    outliving.stdin.end();
    await done;
    const order = log.entries.flatMap(({ facts, message }) =>
      message === 'they end' ? message : (/CXX object (\S+\.o)/.exec(JSON.stringify(facts))?.[1] ?? []),
    );
    expect(order).toEqual(['they end', 'two.o', 'three.o']);
  });
});

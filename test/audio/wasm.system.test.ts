/** What decoding without ffmpeg costs, and how soon it ends. */
import { readdirSync, readlinkSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { hostileFiles } from '../support/hostile.ts';
import { describeWith, run } from '../support/programs.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claimed, decode, expectFailure, surroundings, watchThreads } from './wasm-support.ts';

vi.setConfig({ testTimeout: 120_000 });

describeWith(['ffmpeg'], 'decoding without ffmpeg', (programs) => {
  const ffmpeg = (args: string[]): Promise<string> =>
    run(programs.ffmpeg, ['-nostdin', '-loglevel', 'quiet', ...args], { deadlineMs: 100_000 });

  describe('of more than the maximum duration takes little memory', () => {
    test('for more than an hour of silence in flac', async () => {
      const path = join(await temporaryDirectory(), 'silence.flac');
      await ffmpeg(['-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono', '-t', '3700', '-c:a', 'flac', path]);
      const memory = watchMemory();
      await expectFailure(decode(path, 'flac'), 'recording-too-long', /limit of 3600 seconds/);
      expect(memory.growth()).toBeLessThan(150e6);
    });

    test('for days of Opus in 25 MiB', async () => {
      const [bomb] = claimed(hostileFiles.filter(({ name }) => name === 'seventeen days of opus in 25 MiB of ogg'));
      const path = await bomb!.make(await surroundings());
      const memory = watchMemory();
      await expectFailure(decode(path, 'ogg'), 'recording-too-long', /limit of 3600 seconds/);
      expect(memory.growth()).toBeLessThan(150e6);
    });
  });

  describe('of eleven minutes of webm', () => {
    let made: string;
    beforeAll(async () => {
      made = join(await mkdtemp(join(tmpdir(), 'parlance-webm-')), 'long.webm');
      const opus = ['-c:a', 'libopus', '-compression_level', '0', '-b:a', '32k'];
      await ffmpeg(['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', '660', ...opus, made]);
    });
    afterAll(() => rm(dirname(made), { recursive: true, force: true }));

    /** In a directory of its own. */
    async function elevenMinutes(): Promise<string> {
      const path = join(await temporaryDirectory(), basename(made));
      await copyFile(made, path);
      return path;
    }

    test('makes a WAV file within seconds', async () => {
      const path = await elevenMinutes();
      const before = process.cpuUsage();
      const { durationMs } = await decode(path, 'webm');
      const { user, system } = process.cpuUsage(before); // of all threads; others may have the processors, too
      expect((user + system) / 1e6).toBeLessThan(20);
      expect(Math.abs(durationMs - 660_000)).toBeLessThan(60);
    });

    test('cleans up within 250 ms of an abort', async () => {
      const path = await elevenMinutes();
      const threads = watchThreads();
      const abort = new AbortController();
      const reason = new Error('the caller has gone');
      const decoding = decode(path, 'webm', { signal: abort.signal });
      await underWay(path);

      const sinceAborted = startStopwatch();
      abort.abort(reason);
      await expect(decoding).rejects.toBe(reason);
      expect(sinceAborted()).toBeLessThan(250);
      expect(threads).toEqual({ started: 1, ended: 1 });
      await expectNothingLeftOf(path);
    });

    test('cleans up after a timeout', async () => {
      const path = await elevenMinutes();
      const threads = watchThreads();
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const failure = expectFailure(decode(path, 'webm'), 'engine-timeout', /Decoding the recording timed out/);
      await underWay(path);

      vi.advanceTimersByTime(120_000);
      await failure;
      expect(threads).toEqual({ started: 1, ended: 1 });
      await expectNothingLeftOf(path);
    });

    async function underWay(path: string): Promise<void> {
      while (!openFiles().includes(`${path}.decoded.wav`)) await setImmediate();
    }

    async function expectNothingLeftOf(path: string): Promise<void> {
      expect(openFiles().filter((name) => name.startsWith(dirname(path)))).toEqual([]);
      expect(await readdir(dirname(path))).toEqual([basename(path)]);
    }
  });
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return []; // closed meanwhile
    }
  });
}

/** How far this process's memory grows beyond what it has now. */
function watchMemory(): { growth: () => number } {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  onTestFinished(() => clearInterval(timer));
  return { growth: () => most - before };
}

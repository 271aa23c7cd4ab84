/** Speech is encoded while it is made, off the main thread, and ends with its caller. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processes } from '../support/proc.ts';
import { startNode, until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { watchTurns } from '../support/turns.ts';
import {
  byFfmpeg,
  collect,
  directory,
  disk,
  encode,
  encoderWith,
  formats,
  sampleRate,
  stay,
  tone,
  useEncoder,
} from './encode-support.ts';

const soonMs = 250;

useEncoder();

const children = () => processes().filter(({ parent }) => parent === process.pid).length;

const streamed = formats.filter((format) => format !== 'wav');

describe('encode', () => {
  const dying = {
    'before its first byte': 'kill -KILL $$',
    'in the middle': 'head -c 9000; kill -SEGV $$',
    'with an exit code': 'head -c 9000; exit 3',
  };
  it.each(Object.entries(dying))('is engine-failed when ffmpeg dies %s', async (_when, script) => {
    const ffmpeg = join(directory, 'ffmpeg');
    await writeFile(ffmpeg, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const { audio } = encoderWith(ffmpeg).encode({ sampleRate, samples: tone(60) }, 'opus', { signal: stay() });
    await expect(collect(audio)).rejects.toMatchObject({ code: 'engine-failed' });
    await until('no child is left', () => children() === 0, soonMs);
  });

  it.each(streamed)('streams the first bytes of %s from an endless source', async (format) => {
    let made = 0;
    async function* endless() {
      for (;;) {
        for await (const samples of tone(1)) yield samples;
        made += 1;
      }
    }
    const chunks = encode(endless(), format).audio[Symbol.asyncIterator]();
    expect((await chunks.next()).done).toBe(false);
    // Whoever reads ahead without end never comes to rest. What ffmpeg is ahead with, its pipes hold.
    let before = -1;
    const rests = () => {
      const isStill = made === before;
      before = made;
      return isStill;
    };
    await expect.poll(rests, { timeout: 10_000, interval: 300 }).toBe(true);
    expect(made).toBeLessThan(byFfmpeg.includes(format) ? 60 : 4);
    await chunks.return?.();
    await until('no child is left', () => children() === 0, soonMs);
  });

  it.each(formats)('passes on errors of the samples (%s)', async (format) => {
    const failure = new Error('no more voice');
    async function* failing() {
      yield* tone(3);
      throw failure;
    }
    await expect(collect(encode(failing(), format).audio)).rejects.toBe(failure);
    await until('no child is left', () => children() === 0, soonMs);
    expect(await readdir(directory)).toEqual([]);
    expect(disk.used).toBe(0);
  });

  it.each(formats)('stops %s on abort, even while its samples hang', async (format) => {
    const caller = new AbortController();
    let [hangs, left] = [false, false];
    async function* hanging() {
      try {
        yield* tone(3);
        hangs = true;
        await new Promise<void>((resolve) => caller.signal.addEventListener('abort', () => resolve()));
      } finally {
        left = true;
      }
    }
    const reason = new Error('gone');
    const seen = collect(encode(hanging(), format, caller.signal).audio).catch((error: unknown) => error);
    await until('it hangs', () => hangs);
    const sinceAborted = startStopwatch();
    caller.abort(reason);
    expect(await seen).toBe(reason);
    await until('all is left', () => left && children() === 0, soonMs);
    expect(sinceAborted()).toBeLessThan(soonMs);
    expect(await readdir(directory)).toEqual([]);
    expect(disk.used).toBe(0);
    expect((await collect(encode(tone(1), format).audio)).length, 'the next one works').toBeGreaterThan(1000);
  });

  it('does not block the main thread', async () => {
    const second = new Int16Array(sampleRate).map((_, index) => 10_000 * Math.sin(index * index));
    async function* minutes() {
      for (let made = 0; made < 120; made += 1) yield await Promise.resolve(second);
    }
    const turns = watchTurns();
    await collect(encode(minutes(), 'mp3').audio);
    const { longestMs, usualMs } = turns();
    expect(longestMs).toBeLessThan(250);
    expect(usualMs).toBeLessThan(50);
  });
});

describe('the encoder threads', () => {
  it('free the memory of finished sessions, and do not keep the process alive', async () => {
    const { firstLine, ended } = startNode(`
      const { createEncoder } = await import(${JSON.stringify(new URL('../../src/audio/encode/index.ts', import.meta.url))});
      const { encode } = createEncoder({});
      const { signal } = new AbortController();
      async function* samples() { yield new Int16Array(22050).map((_, index) => 9000 * Math.sin(index / 10)); }
      async function speak(times) {
        for (let count = 0; count < times; count += 1) {
          for await (const _ of encode({ sampleRate: 22050, samples: samples() }, 'ogg', { signal }).audio);
        }
        return process.memoryUsage.rss() / 2 ** 20;
      }
      const before = await speak(50);
      console.log(Math.round(await speak(200) - before));`);
    expect(Number(await firstLine), 'MB; 200 speeches would be 44').toBeLessThan(25);
    await ended;
  }, 30_000);
});

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeWithFfmpeg, type FfmpegOptions } from '../../src/audio/ffmpeg.ts';
import { describeWith } from '../support/programs.ts';
import { processesWith, until } from '../support/processes.ts';
import { stopTheDisk } from '../support/slow-disk.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';

describeWith(['ffmpeg'], 'decoding with ffmpeg', ({ ffmpeg }) => {
  test('loses no audio on a slow disk, as under many uploads', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'upload');
    await writeFile(path, toneWav({ words: ['alpha'], rate: 16_000 }));
    const goOn = await stopTheDisk();
    const job = { path, container: 'wav', wavPath: join(directory, 'decoded.wav'), maxSeconds: 60 } as const;
    const decoding = decodeWithFfmpeg(ffmpeg, job, { signal: new AbortController().signal });
    decoding.catch(() => undefined); // it may fail before anybody waits for it
    try {
      await until('an ffmpeg that has begun all the same has ended', () => processesWith(path).length === 0);
    } finally {
      await goOn();
    }
    expect((await decoding).durationMs).toBe(1250);
  });
});

describe('a failing ffmpeg', () => {
  /** Decodes with a program that is this shell script. */
  async function decodeWith(script: string, options: Partial<FfmpegOptions> = {}) {
    const directory = await temporaryDirectory();
    const [ffmpeg, path] = [join(directory, 'ffmpeg'), join(directory, 'upload')];
    await writeFile(ffmpeg, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await writeFile(path, 'RIFF');
    const job = { path, container: 'wav', wavPath: join(directory, 'decoded.wav'), maxSeconds: 1 } as const;
    const decoding = decodeWithFfmpeg(ffmpeg, job, { signal: new AbortController().signal, ...options });
    return decoding.finally(async () => expect((await readdir(directory)).sort()).toEqual(['ffmpeg', 'upload']));
  }

  test.each(['SEGV', 'ABRT', 'BUS', 'KILL', 'TERM'])('by SIG%s is engine-failed: it crashed', async (signal) => {
    const decoding = decodeWith(`head -c 320 /dev/zero; kill -${signal} $$`);
    await expect(decoding).rejects.toMatchObject({
      code: 'engine-failed',
      cause: { message: expect.stringContaining(`ffmpeg: exit SIG${signal}`) as string },
    });
  });

  test.each<[string, string, Partial<FfmpegOptions>]>([
    ['our deadline', 'sleep 60', { timeoutMs: 50 }],
    ['the soft limit of processor time', 'kill -XCPU $$', {}],
    ['the hard limit of processor time', 'while :; do :; done', { cpuSeconds: 1 }],
  ])('by %s is engine-timeout', async (_which, script, options) => {
    await expect(decodeWith(script, options)).rejects.toMatchObject({ code: 'engine-timeout' });
  });

  test('by its exit code, or without audio, is recording-undecodable', async () => {
    for (const script of ['exit 183', 'exit 0']) {
      await expect(decodeWith(script)).rejects.toMatchObject({ code: 'recording-undecodable' });
    }
  });

  test('by too much audio is recording-too-long', async () => {
    await expect(decodeWith('exec cat /dev/zero')).rejects.toMatchObject({ code: 'recording-too-long' });
  });

  test('by an abort rejects with its reason', async () => {
    const reason = new Error('the caller has gone');
    const late = new AbortController();
    const decoding = decodeWith('exec sleep 60', { signal: late.signal });
    late.abort(reason);
    await expect(decoding).rejects.toBe(reason);
    await expect(decodeWith('exit 0', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

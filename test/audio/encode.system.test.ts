/** Speech is encoded while it is made, off the main thread, and ends with its caller. */
import { availableParallelism } from 'node:os';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { speechFormats, type EngineContext, type Pcm, type SpeechFormat } from '../../engines/contract/index.ts';
import { createEncoder } from '../../src/audio/encode/index.ts';
import { openEncoderSession } from '../../src/audio/encode/workers.ts';
import { DiskBudget, spaceOf } from '../../src/system/disk-budget.ts';
import { findProgram, requireProgram, run, describeWith } from '../support/programs.ts';
import { processes } from '../support/proc.ts';
import { startNode, until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { watchTurns } from '../support/turns.ts';

const sampleRate = 22_050;
const soonMs = 250;

let directory: string;
let encoder: Pick<EngineContext, 'formats' | 'encode'>;
let disk: DiskBudget;

const encoderWith = (ffmpeg: string | undefined) =>
  createEncoder({
    ffmpeg,
    temporaryDirectory: async () => {
      const path = await mkdtemp(join(directory, 'speech-'));
      return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
    },
    openAccount: () => disk.open({ limit: 10_000_000 }),
  });

beforeEach(async () => {
  directory = await temporaryDirectory();
  disk = new DiskBudget({ bytes: 100_000_000, space: () => spaceOf(directory) });
  encoder = encoderWith(findProgram('ffmpeg'));
});

/** A tone of 440 Hz, in chunks of a tenth of a second. */
async function* tone(seconds: number, rate = sampleRate): AsyncGenerator<Int16Array> {
  for (let start = 0; start < seconds * rate; start += rate / 10) {
    yield Int16Array.from(
      { length: Math.min(rate / 10, seconds * rate - start) },
      (_, index) => 10_000 * Math.sin(((start + index) * 440 * 2 * Math.PI) / rate),
    );
    await Promise.resolve();
  }
}

const stay = () => new AbortController().signal;
const encode = (samples: Pcm['samples'], format: SpeechFormat, signal = stay(), rate = sampleRate) =>
  encoder.encode({ sampleRate: rate, samples }, format, { signal });

async function collect(audio: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of audio) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

/** How often it goes from deep to high: noise around zero does not count. */
function countRises(samples: Int16Array): number {
  let [rises, low] = [0, false];
  for (const sample of samples) {
    if (sample < -4000) low = true;
    if (!low || sample < 4000) continue;
    [rises, low] = [rises + 1, false];
  }
  return rises;
}

const children = () => processes().filter(({ parent }) => parent === process.pid).length;

const formats = speechFormats.filter((format) => format !== 'opus' || findProgram('ffmpeg') !== undefined);
const streamed = formats.filter((format) => format !== 'wav');

describeWith(['ffmpeg'], 'ffmpeg decodes', () => {
  /** Seconds, and how often it crosses zero in each. */
  async function hear(audio: Buffer) {
    const [from, to] = [join(directory, 'audio'), join(directory, 'raw')];
    await writeFile(from, audio);
    const args = [
      '-nostdin',
      '-y',
      '-loglevel',
      'error',
      '-xerror',
      '-i',
      from,
      '-ac',
      '1',
      '-ar',
      '16000',
      '-f',
      's16le',
      to,
    ];
    await run(requireProgram('ffmpeg'), args);
    const bytes = await readFile(to);
    const samples = new Int16Array(Uint8Array.from(bytes).buffer);
    const crossings = countRises(samples);
    return { seconds: samples.length / 16_000, hertz: (crossings / samples.length) * 16_000 };
  }

  it.each(speechFormats)('%s to the same audio of the same length, at every rate', async (format) => {
    for (const rate of [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]) {
      const { mediaType, audio } = encode(tone(3, rate), format, stay(), rate);
      expect(mediaType).toBe({ mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', opus: 'audio/ogg' }[format]);
      const { seconds, hertz } = await hear(await collect(audio));
      expect(Math.abs(seconds - 3), `${rate} Hz`).toBeLessThan(0.2);
      expect(Math.abs(hertz - 440), `${rate} Hz`).toBeLessThan(25);
    }
  });

  it.each(speechFormats)('%s of one large block, and of one sample', async (format) => {
    async function* once(samples: Int16Array) {
      yield await Promise.resolve(samples);
    }
    const { seconds } = await hear(await collect(encode(once(new Int16Array(40 * sampleRate)), format).audio));
    expect(Math.abs(seconds - 40)).toBeLessThan(0.2);
    expect(await collect(encode(once(new Int16Array(1)), format).audio)).not.toHaveLength(0);
  });
});

describe('encode', () => {
  it('offers the formats of this machine', () => {
    const without = encoderWith(undefined);
    expect(without.formats).toEqual(['mp3', 'wav', 'ogg']);
    expect(encoderWith('/usr/bin/ffmpeg').formats).toEqual(speechFormats);
    const pcm = { sampleRate, samples: tone(1) };
    expect(() => without.encode(pcm, 'opus', { signal: stay() })).toThrow(
      expect.objectContaining({
        code: 'format-not-supported',
        message: expect.stringMatching('mp3, wav, ogg') as string,
      }),
    );
  });

  it('reports an ffmpeg without opus', async () => {
    const ffmpeg = join(directory, 'ffmpeg');
    await writeFile(ffmpeg, `#!/bin/sh\necho "Unknown encoder 'libopus'" >&2\nexit 8\n`, { mode: 0o755 });
    const { audio } = encoderWith(ffmpeg).encode({ sampleRate, samples: tone(1) }, 'opus', { signal: stay() });
    await expect(collect(audio)).rejects.toMatchObject({ code: 'format-not-supported' });
  });

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

  it('is engine-failed when ffmpeg is missing', async () => {
    const gone = encoderWith(join(directory, 'ffmpeg'));
    const { audio } = gone.encode({ sampleRate, samples: tone(1) }, 'opus', { signal: stay() });
    await expect(collect(audio)).rejects.toMatchObject({ code: 'engine-failed' });
  });

  it('writes the length to the header of a wav, and leaves no file', async () => {
    const audio = encode(tone(2), 'wav').audio;
    const wav = await collect(audio);
    expect(wav).toHaveLength(44 + 2 * 2 * sampleRate);
    expect([wav.readUInt32LE(4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([
      wav.length - 8,
      sampleRate,
      wav.length - 44,
    ]);
    expect(await readdir(directory)).toEqual([]);
    expect(disk.used).toBe(0);
  });

  it('rejects with storage-full when a wav is larger than its limit, and releases its bytes', async () => {
    await expect(collect(encode(tone(300), 'wav').audio)).rejects.toMatchObject({ code: 'storage-full' });
    expect(disk.used).toBe(0);
    expect(await readdir(directory)).toEqual([]);
  });

  it('takes wav bytes from the disk budget, and releases them when the reader returns', async () => {
    const audio = encode(tone(30), 'wav').audio[Symbol.asyncIterator]();
    await audio.next();
    expect(disk.used).toBe(30 * 2 * sampleRate);
    await audio.return?.();
    expect(disk.used).toBe(0);
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
    expect(made).toBeLessThan(format === 'opus' ? 60 : 4);
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

  it.each(formats)('does not start %s when already aborted', async (format) => {
    const audio = encode(tone(1), format, AbortSignal.abort(new Error('gone'))).audio;
    await expect(collect(audio)).rejects.toThrow('gone');
  });

  it('gives the same result in parallel as alone', async () => {
    const alone = await collect(encode(tone(5), 'mp3').audio);
    const kinds = ['mp3', 'ogg', 'mp3', 'mp3'] as const;
    const [first, , third, fourth] = await Promise.all(kinds.map((format) => collect(encode(tone(5), format).audio)));
    for (const other of [first, third, fourth]) expect(other).toEqual(alone);
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
  const openSessions = () => Array.from({ length: 3 * availableParallelism() }, () => openEncoderSession());

  it('are at most as many as cores, for any number of sessions', () => {
    const sessions = openSessions();
    for (const { close } of sessions) close();
    expect(new Set(sessions.map(({ worker }) => worker)).size).toBe(availableParallelism());
  });

  it('fail their sessions when they crash, and are replaced', async () => {
    const encoding = collect(encode(tone(60), 'mp3').audio);
    const failure = expect(encoding).rejects.toMatchObject({ code: 'engine-failed' });
    for (const { worker, close } of openSessions()) {
      close();
      await worker.terminate();
    }
    await failure;
    expect(await collect(encode(tone(1), 'mp3').audio)).not.toHaveLength(0);
  });

  it('are not chosen after retirement', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const retired = openSessions().map(({ worker, close }) => {
      close();
      return worker;
    });
    vi.advanceTimersByTime(60_000);
    // Their threads are still ending.
    const { worker, close } = openEncoderSession();
    close();
    expect(retired).not.toContain(worker);
    expect(await collect(encode(tone(1), 'mp3').audio)).not.toHaveLength(0);
  });

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

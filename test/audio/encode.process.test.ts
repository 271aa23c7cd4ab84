/** Speech in every format is what was said, with its length; what an encoder refuses; threads of the encoders. */
import { availableParallelism } from 'node:os';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { speechFormats, type SpeechFormat } from '../../engines/contract/index.ts';
import { openEncoderSession } from '../../src/audio/encode/thread-pool.ts';
import { wavHeader } from '../../lib/wav.ts';
import { describeWith, requireProgram, run } from '../support/programs.ts';
import { wavSamples } from '../support/wav-samples.ts';
import {
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
import { decode } from './wasm-support.ts';

useEncoder();

const mediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  pcm: 'audio/pcm',
};

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

async function* chunksOf(samples: Int16Array, sizes: readonly number[]) {
  let at = 0;
  for (const size of sizes) yield await Promise.resolve(samples.subarray(at, (at += size)));
}

async function rest(audio: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await audio.next()).done);
}

describeWith(['ffmpeg'], 'ffmpeg decodes', () => {
  /** Seconds, and how often it crosses zero in each. */
  async function measure(audio: Buffer, format: SpeechFormat) {
    const [from, to] = [join(directory, 'audio'), join(directory, 'raw')];
    await writeFile(from, audio);
    const args = [
      '-nostdin',
      '-y',
      '-loglevel',
      'error',
      '-xerror',
      ...(format === 'pcm' ? ['-f', 's16le', '-ar', '24000', '-ac', '1'] : []),
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

  it.each(speechFormats)(
    '%s to the same audio of the same length, at a rate of each version of MPEG',
    async (format) => {
      for (const rate of [8_000, 22_050, 48_000]) {
        const { mediaType, audio } = encode(tone(3, rate), format, stay(), rate);
        expect(mediaType).toBe(mediaTypes[format]);
        const { seconds, hertz } = await measure(await collect(audio), format);
        expect(Math.abs(seconds - 3), `${rate} Hz`).toBeLessThan(0.3); // a frame of AAC at 8 kHz has 128 ms
        expect(Math.abs(hertz - 440), `${rate} Hz`).toBeLessThan(35);
      }
    },
  );

  it.each([
    ['mp3', 'synthetic=true'],
    ['wav', 'comment=synthetic\\=true'],
    ['ogg', 'synthetic=true'],
    ['opus', 'synthetic=true'],
    ['flac', 'synthetic=true'],
  ] as const)('%s with the mark of synthetic speech, at a rate of each version of MPEG', async (format, mark) => {
    for (const rate of [8_000, 22_050, 48_000]) {
      const path = join(directory, 'marked');
      await writeFile(path, await collect(encode(tone(1, rate), format, stay(), rate).audio));
      const args = ['-loglevel', 'error', '-i', path, '-map', '0', '-c', 'copy', '-f', 'ffmetadata', '-'];
      const metadata = await run(requireProgram('ffmpeg'), args);
      expect(metadata.split('\n'), `${rate} Hz`).toContain(mark);
    }
  });

  it.each(speechFormats)('%s of one large block, and of one sample', async (format) => {
    async function* once(samples: Int16Array) {
      yield await Promise.resolve(samples);
    }
    const { seconds } = await measure(
      await collect(encode(once(new Int16Array(40 * sampleRate)), format).audio),
      format,
    );
    expect(Math.abs(seconds - 40)).toBeLessThan(0.2);
    expect(await collect(encode(once(new Int16Array(1)), format).audio)).not.toHaveLength(0);
  });
});

describe('encode', () => {
  it('offers the formats of this machine', () => {
    const without = encoderWith(undefined);
    expect(without.formats).toEqual(['mp3', 'wav', 'ogg', 'pcm']);
    expect(encoderWith('/usr/bin/ffmpeg').formats).toEqual(speechFormats);
    const pcm = { sampleRate, samples: tone(1) };
    for (const format of ['opus', 'flac', 'aac'] as const) {
      const message = `${format} needs ffmpeg on the server; supported: mp3, wav, ogg, pcm.`;
      expect(() => without.encode(pcm, format, { signal: stay() })).toThrow(
        expect.objectContaining({ code: 'format-not-supported', message }),
      );
    }
  });

  it.each([
    ['opus', 'libopus'],
    ['flac', 'flac'],
    ['aac', 'aac'],
  ] as const)('reports an ffmpeg without %s', async (format, name) => {
    const ffmpeg = join(directory, 'ffmpeg');
    await writeFile(ffmpeg, `#!/bin/sh\necho "Unknown encoder '${name}'" >&2\nexit 8\n`, { mode: 0o755 });
    const { audio } = encoderWith(ffmpeg).encode({ sampleRate, samples: tone(1) }, format, { signal: stay() });
    await expect(collect(audio)).rejects.toMatchObject({
      code: 'format-not-supported',
      message: `The ffmpeg on the server does not support ${format}.`,
    });
  });

  it('makes pcm of a voice of 24 kHz from its very samples, in chunks of any size', async () => {
    const samples = Int16Array.from({ length: 300_000 }, (_, i) => i % 32_768);
    const pcm = await collect(
      encode(chunksOf(samples, [1, 4_095, 131_072, 0, 150_000, 14_832]), 'pcm', stay(), 24_000).audio,
    );
    expect(pcm.equals(new Uint8Array(samples.buffer))).toBe(true);
  });

  it.each([8_000, 11_025, 16_000, 22_050, 22_051, 44_100, 47_999, 48_000])(
    'resamples pcm from %i Hz, whatever the chunks',
    async (rate) => {
      const samples = Int16Array.from({ length: 9_000 }, (_, i) => 10_000 * Math.sin((i * 440 * 2 * Math.PI) / rate));
      const of = (sizes: readonly number[]) => collect(encode(chunksOf(samples, sizes), 'pcm', stay(), rate).audio);
      const pcm = await of([9_000]);
      expect(pcm).toHaveLength(2 * Math.ceil((9_000 * 24_000) / rate));
      expect((await of([1, 2, 4_000, 0, 4_997])).equals(pcm)).toBe(true);
    },
  );

  it('keeps samples of full scale when it resamples: no wrap to the other sign', async () => {
    const samples = new Int16Array(4_000).fill(32_767, 2_000);
    const pcm = await collect(encode(chunksOf(samples, [4_000]), 'pcm').audio);
    const decoded = new Int16Array(Uint8Array.from(pcm).buffer);
    expect(Math.min(...decoded)).toBeGreaterThan(-5_000);
    expect(Math.max(...decoded)).toBe(32_767);
  });

  it('sends a tenth of a second of pcm without waiting for more', async () => {
    for (const rate of [16_000, 24_000]) {
      async function* stalling() {
        yield* tone(0.2, rate);
        await new Promise(() => undefined);
      }
      const abort = new AbortController();
      const audio = encode(stalling(), 'pcm', abort.signal, rate).audio[Symbol.asyncIterator]();
      const { value } = (await audio.next()) as { value: Uint8Array };
      expect(value.length).toBeGreaterThan(4_700);
      expect(value.length % 2).toBe(0);
      abort.abort(new Error('gone'));
      await expect(rest(audio)).rejects.toThrow('gone');
    }
  });

  it('is engine-failed when ffmpeg is missing', async () => {
    const gone = encoderWith(join(directory, 'ffmpeg'));
    const { audio } = gone.encode({ sampleRate, samples: tone(1) }, 'opus', { signal: stay() });
    await expect(collect(audio)).rejects.toMatchObject({ code: 'engine-failed' });
  });

  it('writes the length to the header of a wav, and leaves no file', async () => {
    const audio = encode(tone(2), 'wav').audio;
    const wav = await collect(audio);
    expect([wav.readUInt32LE(4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([
      wav.length - 8,
      sampleRate,
      2 * 2 * sampleRate,
    ]);
    expect(await readdir(directory)).toEqual([]);
    expect(disk.used).toBe(0);
  });

  it('writes all samples to a wav, in chunks of any size', async () => {
    const samples = Int16Array.from({ length: 300_000 }, (_, i) => i % 32_768);
    const wav = await collect(encode(chunksOf(samples, [1, 4_095, 131_072, 0, 150_000, 14_832]), 'wav').audio);
    expect(wavSamples(wav).equals(new Uint8Array(samples.buffer))).toBe(true);
  });

  it('adds no mark to a wav without samples: programs would play it', async () => {
    const wav = await collect(encode(chunksOf(new Int16Array(), []), 'wav').audio);
    expect(wav).toEqual(wavHeader(0, sampleRate));
  });

  it.each(formats.filter((format) => format !== 'pcm' && format !== 'aac'))(
    'makes %s that the decoders of a machine without ffmpeg read to its end',
    async (format) => {
      const path = join(directory, 'speech');
      await writeFile(path, await collect(encode(tone(2), format).audio));
      const { durationMs } = await decode(path, format === 'opus' ? 'ogg' : format);
      expect(Math.abs(durationMs - 2000)).toBeLessThan(150);
    },
  );

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

  it.each(formats)('does not start %s when already aborted', async (format) => {
    const audio = encode(tone(1), format, AbortSignal.abort(new Error('gone'))).audio;
    await expect(collect(audio)).rejects.toThrow('gone');
  });

  it.each(['mp3', 'ogg'] as const)('encodes half a second of %s without waiting for more', async (format) => {
    async function* stalling() {
      yield* tone(0.6);
      await new Promise(() => undefined);
    }
    const abort = new AbortController();
    const audio = encode(stalling(), format, abort.signal).audio[Symbol.asyncIterator]();
    expect((await audio.next()).value).not.toHaveLength(0);
    abort.abort(new Error('gone'));
    await expect(rest(audio)).rejects.toThrow('gone');
  });

  it('encodes at once what has arrived, up to four seconds', async () => {
    const pieces = async (chunk: number) => {
      const samples = new Int16Array(400_000);
      async function* inChunks() {
        for (let at = 0; at < samples.length; at += chunk)
          yield await Promise.resolve(samples.subarray(at, at + chunk));
      }
      const sizes = [];
      for await (const { length } of encode(inChunks(), 'mp3').audio) sizes.push(length);
      return sizes.length;
    };
    expect(await pieces(4_000)).toBe(27); // of 16,000 samples, and what the encoder still held
    expect(await pieces(40_000)).toBe(12);
    expect(await pieces(400_000)).toBe(6); // of 98,304 samples, but for the first
  });

  it('gives the same result in parallel as alone', async () => {
    const alone = await collect(encode(tone(5), 'mp3').audio);
    const kinds = ['mp3', 'ogg', 'mp3', 'mp3'] as const;
    const [first, , third, fourth] = await Promise.all(kinds.map((format) => collect(encode(tone(5), format).audio)));
    for (const other of [first, third, fourth]) expect(other).toEqual(alone);
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
});

/** A WAV of 16 kHz mono s16 needs no decoder: its samples are copied. They are those that ffmpeg would give. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { wavHeader } from '../../lib/wav.ts';
import { decodeTo } from '../../src/audio/decode/index.ts';
import { decodeWithFfmpeg } from '../../src/audio/ffmpeg/index.ts';
import type { DecodeOptions } from '../../src/audio/decode-request.ts';
import { copyPcmWav } from '../../src/audio/wav-file.ts';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { tonePcm, toneWav, wav } from '../support/tone-model.ts';

const pcm = tonePcm({ words: ['alpha'], rate: 16_000 });
const plain = wav(pcm, { rate: 16_000, channels: 1 });
const [head, samples] = [plain.subarray(0, 36), plain.subarray(44)];

function chunk(id: string, content: Uint8Array, size = content.length): Buffer {
  const start = Buffer.alloc(8);
  start.write(id, 'latin1');
  start.writeUInt32LE(size, 4);
  return Buffer.concat([start, content, Buffer.alloc(content.length % 2)]);
}

/** WAVEFORMATEXTENSIBLE, as Windows writes it. */
function extensible(): Buffer {
  const format = Buffer.alloc(40);
  head.copy(format, 0, 20);
  format.writeUInt16LE(0xfffe, 0);
  format.writeUInt16LE(22, 16);
  format.writeUInt16LE(16, 18);
  format.writeUInt32LE(4, 20);
  Buffer.from('0100000000001000800000aa00389b71', 'hex').copy(format, 24);
  return Buffer.concat([head.subarray(0, 12), chunk('fmt ', format), chunk('data', samples)]);
}

/** With the length of the samples in 64 bits. */
function long(form: string): Buffer {
  const sizes = Buffer.alloc(28);
  sizes.writeBigUInt64LE(BigInt(samples.length), 8);
  const start = Buffer.concat([Buffer.from(form), Buffer.alloc(4, 0xff), Buffer.from('WAVE')]);
  return Buffer.concat([start, chunk('ds64', sizes), head.subarray(12), chunk('data', samples, 0xffff_ffff), list]);
}

const list = chunk('LIST', Buffer.from('INFOISFT\x05\0\0\0Lavf\0', 'latin1'));
const copied: Readonly<Record<string, Buffer>> = {
  'as ffmpeg and arecord write it': plain,
  'with an extensible header': extensible(),
  'with a chunk of odd length before its samples': Buffer.concat([head, list, chunk('data', samples)]),
  'of the form RF64': long('RF64'),
  'of the form BW64': long('BW64'),
  'with a chunk after its samples': Buffer.concat([plain, list]),
  'whose length is unknown: 0': Buffer.concat([head, chunk('data', samples, 0)]),
  'whose length is unknown: the largest that there is': Buffer.concat([head, chunk('data', samples, 0xffff_ffff)]),
  'that was cut off': plain.subarray(0, -1000),
  'that was cut off within a sample': plain.subarray(0, -1001),
  'of a single sample': wav(pcm.subarray(0, 1), { rate: 16_000, channels: 1 }),
};
const left: Readonly<Record<string, Buffer>> = {
  'of 8 kHz': toneWav({ words: ['alpha'], rate: 8_000 }),
  'of two channels': toneWav({ words: ['alpha'], rate: 16_000, channels: 2 }),
  'of mu-law': Buffer.concat([Buffer.from(head).fill(7, 20, 21).fill(8, 34, 35), chunk('data', samples)]),
  'without samples': plain.subarray(0, 44),
  'without a format': Buffer.concat([head.subarray(0, 12), chunk('data', samples)]),
  'with more than 64 KiB before its samples': Buffer.concat([
    head,
    chunk('junk', Buffer.alloc(65_536)),
    chunk('data', samples),
  ]),
  'that is empty chunks': Buffer.concat([head, ...Array<Buffer>(100_000).fill(chunk('junk', Buffer.alloc(0)))]),
  'with a chunk that ends far behind the file': Buffer.concat([head, chunk('junk', samples, 0xffff_fff0)]),
  'that is no recording': Buffer.from('a playlist'),
  'that is empty': Buffer.alloc(0),
};

async function jobOf(bytes: Buffer, maxSeconds = 60) {
  const directory = await temporaryDirectory();
  const [path, wavPath] = [join(directory, 'upload'), join(directory, 'decoded.wav')];
  await writeFile(path, bytes);
  return { directory, job: { path, wavPath, container: 'wav', maxSeconds } as const };
}

const stay = (): DecodeOptions => ({ signal: new AbortController().signal });

describe('a WAV', () => {
  test.each(Object.entries(copied))('%s is copied', async (_which, bytes) => {
    const { job } = await jobOf(bytes);
    const decoded = await decodeTo(job, { ...stay(), ffmpeg: '/nowhere/ffmpeg' });
    const file = await readFile(decoded.wavPath);
    expect(file.subarray(0, 44)).toEqual(wavHeader(file.length - 44));
    expect(file.subarray(44).equals(samples.subarray(0, file.length - 44))).toBe(true);
    expect(decoded.endMs).toBe(Math.ceil((file.length - 44) / 32));
  });

  test.each(Object.entries(left))('%s is left to a decoder', async (_which, bytes) => {
    const { directory, job } = await jobOf(bytes);
    expect(await copyPcmWav(job, stay())).toBeUndefined();
    expect(await readdir(directory)).toEqual(['upload']);
  });
});

describeWith(['ffmpeg'], 'a WAV', ({ ffmpeg }) => {
  test.each(Object.entries(copied))('%s has the samples that ffmpeg finds in it', async (_which, bytes) => {
    const [{ job }, other] = [await jobOf(bytes), await jobOf(bytes)];
    const { endMs } = await decodeTo(job, { ...stay(), ffmpeg: '/nowhere/ffmpeg' });
    expect((await decodeWithFfmpeg(ffmpeg, other.job, stay())).endMs).toBe(endMs);
    expect((await readFile(job.wavPath)).equals(await readFile(other.job.wavPath))).toBe(true);
  });
});

describe('a WAV that is copied', () => {
  const copy = async (options: Partial<DecodeOptions> & { readonly maxSeconds?: number }) => {
    const { directory, job } = await jobOf(plain, options.maxSeconds);
    return copyPcmWav(job, { ...stay(), ...options }).finally(async () => {
      if ((await readdir(directory)).length > 1) throw new Error('the copy was left behind');
    });
  };

  test('is too long by what it has, whatever its header says', async () => {
    await expect(copy({ maxSeconds: 1 })).rejects.toMatchObject({ code: 'recording-too-long' });
  });

  test('ends with the reason of its caller', async () => {
    const reason = new Error('the caller has gone');
    await expect(copy({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('is accounted for before it is written', async () => {
    const full = new EngineError('storage-full', 'full');
    const take = (bytes: number) => {
      expect(bytes).toBe(samples.length);
      throw full;
    };
    await expect(copy({ account: { take, [Symbol.dispose]: () => undefined } })).rejects.toBe(full);
  });
});

import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readWav, WavError, wavHeader } from '../../lib/wav.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function soundOf(bytes: Buffer, size = 4096) {
  const sound = await readWav(inChunks(bytes, size));
  const samples: number[] = [];
  for await (const some of sound?.samples ?? []) samples.push(...some);
  return sound && { sampleRate: sound.sampleRate, samples };
}

const samples = [1, -2, 3, -32_768, 32_767];
const data = Buffer.from(Int16Array.from(samples).buffer);

it.each([1, 3, 44, 4096])('gives the samples without the header, in chunks of %i bytes', async (size) => {
  const bytes = Buffer.concat([wavHeader(data.length, 22_050), data]);
  expect(await soundOf(bytes, size)).toEqual({ sampleRate: 22_050, samples });
});

it('passes samples of mono s16 without a copy, unless they begin at an odd address', async () => {
  expect.assertions(4);
  const header = wavHeader(data.length);
  for (const start of [0, 1]) {
    const chunk = new Uint8Array(new ArrayBuffer(start + data.length), start);
    chunk.set(data);
    const sound = await readWav(Readable.from([header, chunk]));
    for await (const some of sound?.samples ?? []) {
      expect(some).toEqual(Int16Array.from(samples));
      expect(some.buffer === chunk.buffer).toBe(start === 0);
    }
  }
});

it.each([0, 12, 2_000_000_000, 0x7fff_f000, 0xffff_ffff])(
  'reads to the end where the length is a guess (%i)',
  async (length) => {
    const header = wavHeader(0);
    header.writeUInt32LE(length, 40);
    expect((await soundOf(Buffer.concat([header, data])))?.samples).toEqual(samples);
  },
);

it.each(['RF64', 'BW64'])('reads the length of %s from its chunk ds64', async (form) => {
  const ds64 = Buffer.alloc(36);
  ds64.write('ds64');
  ds64.writeUInt32LE(28, 4);
  ds64.writeBigUInt64LE(BigInt(data.length), 16);
  const [start, rest] = [wavHeader(0), wavHeader(0)];
  start.write(form);
  rest.writeUInt32LE(0xffff_ffff, 40);
  const bytes = Buffer.concat([start.subarray(0, 12), ds64, rest.subarray(12), data, Buffer.from('LIST\0\0\0\0')]);
  expect((await soundOf(bytes))?.samples).toEqual(samples);
});

it('leaves out the chunks beside the samples', async () => {
  const header = wavHeader(data.length);
  const list = Buffer.from('LIST\x03\0\0\0abc\0', 'latin1');
  const bytes = Buffer.concat([header.subarray(0, 36), list, header.subarray(36), data, list]);
  expect((await soundOf(bytes, 5))?.samples).toEqual(samples);
});

it('closes its source when the reader leaves at the first samples, which came with the header', async () => {
  const source = Readable.from([Buffer.concat([wavHeader(data.length + 2), data]), Buffer.alloc(2)]);
  const sound = await readWav(source);
  for await (const some of sound?.samples ?? []) if (some.length > 0) break;
  expect(source.destroyed).toBe(true);
});

it('returns the mean of two channels, and the first where their phases are opposite', async () => {
  const frames = [
    ...Array.from({ length: 1024 }, () => [300, 100]),
    ...Array.from({ length: 1024 }, () => [500, -500]),
  ];
  const stereo = wavHeader(frames.length * 4);
  stereo.writeUInt16LE(2, 22);
  const bytes = Buffer.concat([stereo, Buffer.from(Int16Array.from(frames.flat()).buffer)]);
  expect((await soundOf(bytes, bytes.length))?.samples).toEqual(frames.map((_, i) => (i < 1024 ? 200 : 500)));
});

it('is undefined for nothing', async () => {
  expect(await soundOf(Buffer.alloc(0))).toBeUndefined();
});

it.each([
  ['text', Buffer.from('usage: speak TEXT'), 'not a WAV file'],
  ['a cut header', wavHeader(2).subarray(0, 40), 'a WAV without samples'],
])('refuses %s', async (_what, bytes, says) => {
  await expect(soundOf(bytes)).rejects.toThrow(new WavError(says));
});

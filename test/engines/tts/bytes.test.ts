/** Sound and mp3 frames out of bytes that come in any chunks. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createByteReader } from '../../../lib/byte-reader.ts';
import { framesOf, isMp3 } from '../../../engines/tts/mp3.ts';
import { readSound } from '../../../engines/tts/sound.ts';
import { describeWith, run } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { mp3, mp3Frame, pcm, trailingTags, wav } from './support.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function hear(bytes: Buffer, size = 4096): Promise<{ sampleRate: number; samples: number[] }> {
  const { sampleRate, samples } = await readSound(createByteReader(inChunks(bytes, size)), 24_000);
  const heard: number[] = [];
  for await (const some of samples) heard.push(...some);
  return { sampleRate, samples: heard };
}

const square = Array.from(new Int16Array(new Uint8Array(pcm(0.01)).buffer));

/** A WAV whose format chunk and samples are given. */
function wavOf(format: readonly [tag: number, channels: number, bits: number], samples: ArrayBufferView): Buffer {
  const bytes = wav(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
  const [tag, channels, bits] = format;
  bytes.writeUInt16LE(tag, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt16LE(bits, 34);
  return bytes;
}

describe('sound', () => {
  test.each([1, 7, 44, 45, 4096])('is the same in chunks of %i', async (size) => {
    expect(await hear(pcm(0.01), size)).toEqual({ sampleRate: 24_000, samples: square });
    expect(await hear(wav(pcm(0.01), { rate: 16_000 }), size)).toEqual({ sampleRate: 16_000, samples: square });
  });

  test('that begins like the header of one mp3 frame is sound all the same', async () => {
    const samples = Buffer.concat([mp3Frame.subarray(0, 4), Buffer.alloc(996)]);
    expect((await hear(samples)).samples).toHaveLength(500);
  });

  test.each<[number, Uint8Array]>([
    [8, Uint8Array.of(128, 129, 127, 255, 0)],
    [24, Uint8Array.of(0, 0, 0, 255, 0, 1, 0, 0, 255, 0, 0, 127, 0, 0, 128)],
    [32, new Uint8Array(Int32Array.of(0, 0x01_00_ff_ff, -0x01_00_00_00, 0x7f_00_00_00, -0x80_00_00_00).buffer)],
  ])('of integers of %i bits is what its upper 16 bits say', async (bits, bytes) => {
    for (const size of [1, 5, 4096]) {
      expect((await hear(wavOf([1, 1, bits], bytes), size)).samples).toEqual([0, 256, -256, 32_512, -32_768]);
    }
  });

  test('of floats is scaled, and what is too loud is clipped', async () => {
    const { samples } = await hear(wavOf([3, 1, 32], Float32Array.of(0, 0.5, -0.5, 1, -1, 2, -2)));
    expect(samples).toEqual([0, 16_384, -16_383, 32_767, -32_767, 32_767, -32_768]);
  });

  test('in stereo is mixed', async () => {
    expect((await hear(wavOf([1, 2, 16], Int16Array.of(100, 300, -100, -300)))).samples).toEqual([200, -200]);
  });

  test.each([0, 0x7fff_ffff, 0xffff_ffff, 0xffff_ffff - 36])(
    'in a WAV that claims %i bytes is all there is',
    async (says) => {
      expect((await hear(wav(pcm(0.01), { says }))).samples).toEqual(square);
    },
  );

  test('that ends in the middle of a sample ends before it', async () => {
    expect((await hear(pcm(0.01).subarray(0, -1))).samples).toEqual(square.slice(0, -1));
  });

  test.each<[string, Buffer]>([
    ['A-law', wavOf([6, 1, 8], new Uint8Array(9))],
    ['floats of 64 bits', wavOf([3, 1, 64], new Float64Array(9))],
    ['integers of 12 bits', wavOf([1, 1, 12], new Uint8Array(9))],
    ['six channels', wavOf([1, 6, 16], new Int16Array(12))],
    ['a format that is cut', Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0', 'latin1')],
    ['samples without a format', Buffer.from('RIFF\0\0\0\0WAVEdata\x04\0\0\0\0\0\0\0', 'latin1')],
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('Internal Server Error')],
  ])('is not made of %s', async (_, bytes) => {
    await expect(hear(bytes)).rejects.toMatchObject({ code: 'provider-bad-response' });
  });
});

describeWith(['ffmpeg'], 'a WAV as ffmpeg writes it', ({ ffmpeg }) => {
  const codecs = ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le'];
  const layouts = ['mono|c0=c0', 'stereo|c0=c0|c1=c0'];

  /** One of 24 bits and more is WAVE_FORMAT_EXTENSIBLE; a stream does not know its length. */
  test.each(codecs.flatMap((codec) => layouts.map((layout) => [codec, layout] as const)))(
    'in %s (%s) is the same sound, from a file and as a stream',
    async (codec, layout) => {
      const directory = await temporaryDirectory();
      const [from, to] = [join(directory, 'in.wav'), join(directory, 'out.wav')];
      await writeFile(from, wav(pcm(0.01)));
      const args = ['-v', 'error', '-i', from, '-af', `pan=${layout}`, '-c:a', codec, '-f', 'wav'];
      await run(ffmpeg, [...args, to]);
      for (const bytes of [await readFile(to), execFileSync(ffmpeg, [...args, 'pipe:1'])]) {
        const { sampleRate, samples } = await hear(bytes);
        expect(sampleRate).toBe(24_000);
        expect(samples).toHaveLength(square.length);
        const furthest = Math.max(...samples.map((sample, i) => Math.abs(sample - square[i]!)));
        expect(furthest).toBeLessThan(256); // a step of 8 bits
      }
    },
  );
});

describe('mp3', () => {
  const info = (mark: string, at: number) => {
    const frame = Buffer.from(mp3Frame);
    frame.write(mark, at, 'latin1');
    return frame;
  };
  const tag = (flags: number) =>
    Buffer.concat([
      Buffer.from([0x49, 0x44, 0x33, 4, 0, flags, 0, 0, 1, 2]),
      Buffer.alloc(130, 'ID3'),
      Buffer.alloc(flags ? 10 : 0),
    ]);

  test.each<[string, Buffer]>([
    ['plain', mp3],
    ['behind a tag', Buffer.concat([tag(0), mp3])],
    ['behind a tag with a footer and another tag', Buffer.concat([tag(0x10), tag(0), mp3])],
    ['behind a Xing frame', Buffer.concat([info('Xing', 36), mp3])],
    ['behind a tag and an Info frame', Buffer.concat([tag(0), info('Info', 21), mp3])],
    ['behind a VBRI frame', Buffer.concat([info('VBRI', 36), mp3])],
  ])('%s is its frames', async (_, bytes) => {
    for (const size of [1, 10, 417, 5000]) {
      const frames: Uint8Array[] = [];
      for await (const some of framesOf(createByteReader(inChunks(bytes, size)))) frames.push(some);
      expect(Buffer.concat(frames).equals(mp3)).toBe(true);
    }
  });

  async function framesIn(bytes: Buffer, size: number): Promise<Buffer> {
    const frames: Uint8Array[] = [];
    for await (const some of framesOf(createByteReader(inChunks(bytes, size)))) frames.push(some);
    return Buffer.concat(frames);
  }

  test.each(Object.entries(trailingTags))('before %s is its frames', async (_, tags) => {
    for (const size of [1, 10, 127, 417, 5000, 200_000]) {
      expect((await framesIn(Buffer.concat([tag(0), mp3, tags]), size)).equals(mp3)).toBe(true);
    }
  });

  test('goes on behind a tag in the middle', async () => {
    const id3v2 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x01\x00', 'latin1'), Buffer.alloc(128, 'x')]);
    const tags = [trailingTags.ID3v1!, id3v2, trailingTags['APEv2 with a picture']!];
    const bytes = Buffer.concat([mp3, ...tags.flatMap((one) => [one, mp3])]);
    for (const size of [1, 417, 5000, 200_000]) {
      expect((await framesIn(bytes, size)).equals(Buffer.concat([mp3, mp3, mp3, mp3]))).toBe(true);
    }
  });

  test('keeps its last frame when that is cut, and loses the tag behind it', async () => {
    const cut = Buffer.concat([mp3, mp3Frame.subarray(0, 100)]);
    for (const size of [1, 417, 20_000]) {
      expect((await framesIn(Buffer.concat([cut, trailingTags.ID3v1!]), size)).equals(cut)).toBe(true);
    }
  });

  test.each([20, 9_000, 100_000])('keeps %i bytes that are neither a frame nor a tag', async (length) => {
    const junk = Buffer.alloc(length, 'junk');
    for (const bytes of [Buffer.concat([mp3, junk]), Buffer.concat([mp3, junk, mp3])]) {
      for (const size of [417, 5000, 200_000]) expect((await framesIn(bytes, size)).equals(bytes)).toBe(true);
    }
  });

  test('gives whole frames on as soon as they are there', async () => {
    async function* stalling() {
      yield Buffer.concat([mp3, mp3Frame.subarray(0, 7)]);
      await new Promise(() => undefined);
    }
    const frames = framesOf(createByteReader(stalling()));
    expect((await frames.next()).value).toHaveLength(mp3.length);
  });

  test.each<[string, string]>([
    ['an error page', '<html>'],
    ['ADTS, which is AAC', '\xff\xf1\x50\x80'],
    ['a WAV', 'RIFF'],
    ['too little', '\xff\xfb\x90'],
    ['a reserved version', '\xff\xeb\x90\x00'],
    ['a reserved sample rate', '\xff\xfb\x9c\x00'],
    ['a bit rate that is none', '\xff\xfb\xf0\x00'],
  ])('is not %s', (_, head) => {
    expect(isMp3(Buffer.from(head, 'latin1'))).toBe(false);
  });
});

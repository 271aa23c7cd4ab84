/** Reads PCM and mp3 frames from bytes in chunks of any size. */
import { describe, expect, test } from 'vitest';
import { createByteReader } from '../../../lib/byte-reader.ts';
import { framesOf, isMp3 } from '../../../engines/tts/mp3.ts';
import { readPcm } from '../../../engines/tts/pcm.ts';
import { mp3, mp3Frame, pcm, trailingTags, wav } from './support.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function decode(bytes: Buffer, size = 4096): Promise<{ sampleRate: number; samples: number[] }> {
  const { sampleRate, samples } = await readPcm(createByteReader(inChunks(bytes, size)), 24_000);
  const all: number[] = [];
  for await (const some of samples) all.push(...some);
  return { sampleRate, samples: all };
}

const square = Array.from(new Int16Array(new Uint8Array(pcm(0.01)).buffer));

/** A WAV with this format chunk and these samples. */
function wavOf(format: readonly [tag: number, channels: number, bits: number], samples: ArrayBufferView): Buffer {
  const bytes = wav(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
  const [tag, channels, bits] = format;
  bytes.writeUInt16LE(tag, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt16LE(bits, 34);
  return bytes;
}

describe('samples', () => {
  test.each([1, 7, 44, 45, 4096])('are the same in chunks of %i', async (size) => {
    expect(await decode(pcm(0.01), size)).toEqual({ sampleRate: 24_000, samples: square });
    expect(await decode(wav(pcm(0.01), { rate: 16_000 }), size)).toEqual({ sampleRate: 16_000, samples: square });
  });

  test('that look like the header of one mp3 frame are still read as samples', async () => {
    const samples = Buffer.concat([mp3Frame.subarray(0, 4), Buffer.alloc(996)]);
    expect((await decode(samples)).samples).toHaveLength(500);
  });

  test.each<[number, Uint8Array]>([
    [8, Uint8Array.of(128, 129, 127, 255, 0)],
    [24, Uint8Array.of(0, 0, 0, 127, 0, 1, 0, 0, 255, 0, 0, 127, 0, 0, 128)],
    [32, new Uint8Array(Int32Array.of(0, 0x01_00_70_00, -0x01_00_00_00, 0x7f_00_00_00, -0x80_00_00_00).buffer)],
  ])('of %i-bit integers are rounded to 16 bits', async (bits, bytes) => {
    for (const size of [1, 5, 4096]) {
      expect((await decode(wavOf([1, 1, bits], bytes), size)).samples).toEqual([0, 256, -256, 32_512, -32_768]);
    }
  });

  test('of floats are scaled and clipped', async () => {
    const { samples } = await decode(wavOf([3, 1, 32], Float32Array.of(0, 0.5, -0.5, 1, -1, 2, -2)));
    expect(samples).toEqual([0, 16_384, -16_384, 32_767, -32_768, 32_767, -32_768]);
  });

  test('in stereo are mixed to mono', async () => {
    expect((await decode(wavOf([1, 2, 16], Int16Array.of(100, 300, -100, -300)))).samples).toEqual([200, -200]);
  });

  test.each([0, 9600, 2_000_000_000, 0x7fff_ffff, 0xffff_ffff, 0xffff_ffff - 36])(
    'in a WAV that claims %i bytes is all there is',
    async (says) => {
      expect((await decode(wav(pcm(0.01), { says }))).samples).toEqual(square);
    },
  );

  test('end before an incomplete last sample', async () => {
    expect((await decode(pcm(0.01).subarray(0, -1))).samples).toEqual(square.slice(0, -1));
  });

  test.each<[string, Buffer]>([
    ['ADPCM', wavOf([2, 1, 4], new Uint8Array(9))],
    ['16-bit floats', wavOf([3, 1, 16], new Uint8Array(9))],
    ['six channels', wavOf([1, 6, 16], new Int16Array(12))],
    ['a truncated fmt chunk', Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0', 'latin1')],
    ['samples without a format', Buffer.from('RIFF\0\0\0\0WAVEdata\x04\0\0\0\0\0\0\0', 'latin1')],
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('Internal Server Error')],
  ])('are not read from %s', async (_, bytes) => {
    await expect(decode(bytes)).rejects.toMatchObject({ code: 'provider-bad-response' });
  });
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
    ['after a tag', Buffer.concat([tag(0), mp3])],
    ['after a tag with a footer and another tag', Buffer.concat([tag(0x10), tag(0), mp3])],
    ['after a Xing frame', Buffer.concat([info('Xing', 36), mp3])],
    ['after a tag and an Info frame', Buffer.concat([tag(0), info('Info', 21), mp3])],
    ['after a VBRI frame', Buffer.concat([info('VBRI', 36), mp3])],
  ])('%s is reduced to its frames', async (_, bytes) => {
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

  test('continues after a tag in the middle', async () => {
    const id3v2 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x01\x00', 'latin1'), Buffer.alloc(128, 'x')]);
    const tags = [trailingTags.ID3v1!, id3v2, trailingTags['APEv2 with a picture']!];
    const bytes = Buffer.concat([mp3, ...tags.flatMap((one) => [one, mp3])]);
    for (const size of [1, 417, 5000, 200_000]) {
      expect((await framesIn(bytes, size)).equals(Buffer.concat([mp3, mp3, mp3, mp3]))).toBe(true);
    }
  });

  test('keeps a truncated last frame, and removes the tag after it', async () => {
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

  test('yields whole frames as soon as they arrive', async () => {
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
    ['an invalid bit rate', '\xff\xfb\xf0\x00'],
  ])('is not detected in %s', (_, head) => {
    expect(isMp3(Buffer.from(head, 'latin1'))).toBe(false);
  });
});

/** WAV files as ffmpeg writes them. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createByteReader } from '../../../lib/byte-reader.ts';
import { readPcm } from '../../../engines/tts/pcm.ts';
import { describeWith, run } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { pcm, wav } from './support.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function decode(bytes: Buffer, size = 4096): Promise<{ sampleRate: number; samples: number[] }> {
  const { sampleRate, samples } = await readPcm(createByteReader(inChunks(bytes, size)), 24_000);
  const decoded: number[] = [];
  for await (const some of samples) decoded.push(...some);
  return { sampleRate, samples: decoded };
}

const square = Array.from(new Int16Array(new Uint8Array(pcm(0.01)).buffer));

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
        const { sampleRate, samples } = await decode(bytes);
        expect(sampleRate).toBe(24_000);
        expect(samples).toHaveLength(square.length);
        const furthest = Math.max(...samples.map((sample, i) => Math.abs(sample - square[i]!)));
        expect(furthest).toBeLessThan(256); // a step of 8 bits
      }
    },
  );
});

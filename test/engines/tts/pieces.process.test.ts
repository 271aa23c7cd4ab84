/** Joined pieces as ffmpeg decodes them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith, run } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { decode, pcm, speaks, startTts, trailingTags, wav } from './support.ts';

const sentences = ['First comes one sentence that is long.', 'Then a second one.', 'Then a third, and that is it.'];
const text = sentences.join(' ');
const models = (formats: string) => `[{ id: remote, maxCharacters: 50, formats: [${formats}] }]`;

describeWith(['ffmpeg'], 'a joined stream', ({ ffmpeg }) => {
  test.each(['mp3', 'ogg', 'wav', 'opus', 'flac', 'aac'])(
    'of pcm pieces in %s is as long as its pieces together',
    async (format) => {
      const { speak } = await startTts(speaks(pcm(1.5), 'audio/pcm'), { models: models('pcm') });
      const { bytes } = await speak({ text, format });
      expect(Math.abs((await decode(ffmpeg, bytes)).seconds - 3)).toBeLessThan(0.15);
    },
  );

  test.each([
    ['MPEG 1', '44100', 'stereo', 2],
    ['MPEG 2', '24000', 'mono', 1],
    ['MPEG 2.5', '8000', 'mono', 1],
  ])('of mp3 pieces (%s, %s Hz, %s) is as long as its pieces together', async (_version, rate, _channels, channels) => {
    const piece = await encodeMp3(ffmpeg, ['-ar', rate, '-ac', String(channels)]);
    expect(piece.toString('latin1', 0, 3)).toBe('ID3'); // ffmpeg writes the tag and the Xing frame that we are after
    expect(piece.toString('latin1', 0, 500)).toMatch(/Xing|Info/);
    const { speak } = await startTts(speaks(piece), { models: models('mp3') });
    const { bytes } = await speak({ text });
    expect(bytes.toString('latin1')).not.toMatch(/ID3|Xing|Info/);
    const one = (await decode(ffmpeg, piece)).seconds;
    const both = (await decode(ffmpeg, bytes)).seconds;
    expect(one).toBeCloseTo(1.5, 1);
    // Each piece plays the delay of its encoder, too, which the Xing frame had said to skip: 1105 samples and padding.
    expect(both).toBeGreaterThanOrEqual(2 * one);
    expect(both).toBeLessThan(2 * one + (4 * 1152) / Number(rate));
  });

  test.each([
    ['44100', '2'],
    ['24000', '1'],
    ['8000', '1'],
  ])('of tagged mp3 pieces (%s Hz) is that of untagged ones, without an error', async (rate, channels) => {
    const args = ['-ar', rate, '-ac', channels, '-metadata', 'title=TAG', '-metadata', 'artist=ID3'];
    const plain = await encodeMp3(ffmpeg, args);
    const tagged = await encodeMp3(ffmpeg, [...args, '-write_id3v1', '1']);
    expect(tagged.subarray(-128).toString('latin1', 0, 3)).toBe('TAG');
    const { speak, provider } = await startTts(speaks(plain), { models: models('mp3') });
    const expected = (await speak({ text })).bytes;
    provider.behave(
      speaks(Buffer.concat([tagged.subarray(0, -128), trailingTags['APEv2 and ID3v1']!])),
      speaks(tagged),
    );
    const { bytes } = await speak({ text });
    expect(bytes.equals(expected)).toBe(true);
    expect(bytes.toString('latin1')).not.toMatch(/TAG|ID3|APETAGEX/);
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'joined.mp3'), bytes);
    const strict = ['-v', 'error', '-xerror', '-err_detect', 'explode', '-i', join(directory, 'joined.mp3')];
    await run(ffmpeg, [...strict, '-f', 's16le', join(directory, 'joined.raw')]);
  });
});

async function encodeMp3(ffmpeg: string, args: readonly string[]): Promise<Buffer> {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'in.wav'), wav(pcm(1.5)));
  await run(ffmpeg, ['-v', 'error', '-i', join(directory, 'in.wav'), ...args, join(directory, 'out.mp3')]);
  return readFile(join(directory, 'out.mp3'));
}

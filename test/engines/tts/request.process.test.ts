/** Encoded speech as ffmpeg decodes it. */
import { expect, test } from 'vitest';
import { describeWith } from '../../support/programs.ts';
import { decode, pcm, speaks, startTts } from './support.ts';

describeWith(['ffmpeg'], 'speech in', ({ ffmpeg }) => {
  test.each(['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac'])('%s is as long as the pcm it was made of', async (format) => {
    const { speak } = await startTts(speaks(pcm(2), 'audio/pcm'), { models: '[{ id: remote, formats: [pcm] }]' });
    const { bytes } = await speak({ format });
    expect(Math.abs((await decode(ffmpeg, bytes)).seconds - 2)).toBeLessThan(0.15);
  });
});

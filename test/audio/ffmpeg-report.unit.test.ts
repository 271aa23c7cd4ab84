/** What ffmpeg prints about the channels of a stream: a wrong count would decode a downmix as two separate speakers. */
import { expect, test } from 'vitest';
import { FfmpegReport } from '../../src/audio/ffmpeg/report.ts';

test.each([
  ['mono', 1],
  ['stereo', 2],
  ['downmix', 2],
  ['2.1', 3],
  ['quad', 4],
  ['quad(side)', 4],
  ['5.1(side)', 6],
  ['hexagonal', 6],
  ['octagonal', 8],
  ['7.1.4', 12],
  ['9 channels', 9],
  ['hexadecagonal', 16],
])('the layout %s has %i channels', (layout, channels) => {
  const report = new FfmpegReport();
  report.read(`[info]   Stream #0:0: Audio: pcm_s16le ([1][0][0][0] / 0x0001), 48000 Hz, ${layout}, s16, 768 kb/s`);
  expect(report.streams).toMatchObject([{ codec: 'pcm_s16le', sampleRate: 48_000, channels }]);
});

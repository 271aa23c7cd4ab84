/** The times of a decoded recording are those of its file, with both decoders. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { decodeTo } from '../../src/audio/decode/index.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';
import '../support/shared-compile-cache.ts';

vi.setConfig({ testTimeout: 120_000 });

describeWith(['ffmpeg'], 'the times', ({ ffmpeg }) => {
  /** A pause of half a second, a word, a pause of a quarter. */
  const speech = toneWav({ words: ['golf'], rate: 48_000 });

  /** Where sound begins in a recording that ffmpeg makes with these arguments, and its gaps, in milliseconds. */
  async function timesOf(container: Container, args: string, program: string | undefined) {
    const directory = await temporaryDirectory();
    const [path, wavPath] = [join(directory, 'recording'), join(directory, 'decoded.wav')];
    await run(ffmpeg, ['-loglevel', 'error', ...args.split(' '), path], { input: speech });
    const request = { path, container, wavPath, maxSeconds: 60 };
    const { gaps, endMs } = await decodeTo(request, { ffmpeg: program, signal: new AbortController().signal });
    return { onsets: onsetsOf(await readFile(wavPath)), gaps, endMs };
  }

  const film = (offset: number, codecs: string) =>
    `-f lavfi -t 8 -i testsrc=s=32x32:r=5 -itsoffset ${offset} -i pipe:0 -map 0:v -map 1:a ${codecs}`;
  const gap = "-i pipe:0 -af asetpts='PTS+if(gt(T,0.3),5/TB,0)'";
  const toleranceMs = 70; // the frame of a codec in which a gap begins

  describe.each([
    ['ffmpeg', ffmpeg],
    ['WASM', undefined],
  ])('with %s', (_name, program) => {
    const formats: [Container, string][] = [
      ['webm', '-c:v libvpx -c:a libopus -f webm'],
      ['webm', '-c:v mpeg4 -c:a flac -f matroska'],
      ['mp4', '-c:v mpeg4 -c:a libopus -f mp4'],
      ...(program === undefined ? [] : ([['mp4', '-c:v mpeg4 -c:a aac -f mp4']] as [Container, string][])),
    ];

    test.each(formats)('of a film whose sound begins late: %s %s', async (container, codecs) => {
      const { onsets, gaps, endMs } = await timesOf(container, film(4.9, codecs), program);
      expect(onsets).toEqual([near(5_400)]);
      expect(gaps).toHaveLength(1);
      expect(gaps[0]!.endMs).toEqual(near(4_900));
      expect(endMs).toEqual(near(6_150));
    });

    test.each(formats)('of a recording with a gap: %s %s', async (container, codecs) => {
      const { onsets, gaps, endMs } = await timesOf(container, `${gap} ${codecs}`, program);
      expect(onsets).toEqual([near(5_500)]);
      expect(gaps.map(({ startMs, endMs }) => endMs - startMs)).toEqual([near(5_000)]);
      expect(endMs).toEqual(near(6_250));
    });

    test.each(['libopus', 'libvorbis'])('of a gap between the pages of an ogg of %s', async (codec) => {
      const args = `${gap} -c:a ${codec} -page_duration 20000 -f ogg`;
      expect(await timesOf('ogg', args, program)).toMatchObject({ onsets: [near(5_500)], endMs: near(6_250) });
    });

    test('of a recording whose time stamps begin at an hour begin at 0', async () => {
      const args = '-i pipe:0 -output_ts_offset 3600 -c:a libopus -f webm';
      expect(await timesOf('webm', args, program)).toMatchObject({ onsets: [near(500)], gaps: [] });
    });

    test('of a recording whose time stamps jump by an hour are those of its sound', async () => {
      const args = "-i pipe:0 -af asetpts='PTS+if(gt(T,0.45),3600/TB,0)' -c:a libopus -f webm";
      expect(await timesOf('webm', args, program)).toMatchObject({ onsets: [near(500)], gaps: [] });
    });
  });

  const near = (ms: number) =>
    expect.toSatisfy((is: number) => Math.abs(is - ms) < toleranceMs, `about ${ms}`) as number;
});

/** Where sound begins after at least 100 ms of silence. */
function onsetsOf(wav: Buffer): number[] {
  const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
  const onsets: number[] = [];
  let last = -Infinity;
  samples.forEach((sample, at) => {
    if (Math.abs(sample) < 1_000) return;
    if (at - last > 1_600) onsets.push(Math.round(at / 16));
    last = at;
  });
  return onsets;
}

/** The duration of real recordings, read from their containers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith, requireProgram, run } from '../../support/programs.ts';
import { answers } from '../../support/provider.ts';
import { recordings, usual } from '../../support/recordings.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { speechSeconds, toneWav } from '../../support/tone-model.ts';
import { openHosted, type Hosted } from './support.ts';

let hosted: Hosted & AsyncDisposable;
beforeAll(async () => {
  hosted = await openHosted();
});
afterAll(() => hosted[Symbol.asyncDispose]());

/** The duration in the answer when the provider says this. */
async function durationOf(bytes: Uint8Array, answer: object = {}): Promise<unknown> {
  hosted.provider.behave(answers(200, { text: 'ok', ...answer }));
  return ((await hosted.transcribe({}, bytes)).body as { duration_ms?: unknown }).duration_ms;
}

describeWith(['ffmpeg'], 'the duration', () => {
  const { words, language } = usual;
  /** Codecs pad with silence and cut into frames. */
  const toleranceMs = 120;

  test.each(recordings)('of $name is read from its container', async ({ make }) => {
    const bytes = await readFile(await make(words, { directory: await temporaryDirectory(), language }));
    const measured = (await durationOf(bytes)) as number;
    expect(Math.abs(measured - speechSeconds({ words }) * 1000)).toBeLessThan(toleranceMs);
  });

  test.each([
    ['webm', '-c:a libopus -f webm'],
    ['mkv', '-c:a flac -f matroska'],
    ['ogg', '-c:a libopus -f ogg'],
    ['ogg', '-c:a libvorbis -f ogg'],
    ['mp4', '-c:a aac -f mp4'],
  ])('of %s made with %s, whose time stamps begin at an hour, is that of its sound', async (_container, encode) => {
    const path = join(await temporaryDirectory(), 'recording');
    const input = toneWav({ words, rate: 48_000 });
    const args = ['-i', 'pipe:0', '-output_ts_offset', '3600', ...encode.split(' '), path];
    await run(requireProgram('ffmpeg'), ['-loglevel', 'error', ...args], { input });
    const measured = (await durationOf(await readFile(path))) as number;
    expect(Math.abs(measured - speechSeconds({ words }) * 1000)).toBeLessThan(toleranceMs);
  });

  test.each([
    ['webm', '-c:a libopus -f webm', '-c:a libvorbis -f webm'],
    ['ogg', '-c:a libopus -f ogg', '-c:a libvorbis -ar 16000 -f ogg'],
    ['flac', '-c:a flac -f flac', '-c:a flac -ar 16000 -f flac'],
    ['mp4', '-c:a aac -f mp4', '-c:a aac -f mp4'],
    ['wav', '-c:a pcm_s16le -f wav', '-c:a pcm_mulaw -ar 8000 -f wav'],
  ])('of joined %s is that of the whole: %s, then %s', async (_container, ...formats) => {
    const directory = await temporaryDirectory();
    const parts = formats.map(async (format, i) => {
      const path = join(directory, String(i));
      const input = toneWav({ words, rate: 48_000 });
      await run(requireProgram('ffmpeg'), ['-loglevel', 'error', '-i', 'pipe:0', ...format.split(' '), path], {
        input,
      });
      return readFile(path);
    });
    const measured = (await durationOf(Buffer.concat(await Promise.all(parts)))) as number;
    expect(Math.abs(measured - 2 * speechSeconds({ words }) * 1000)).toBeLessThan(2 * toleranceMs);
  });

  test('of a damaged recording is what its container says', async () => {
    const path = join(await temporaryDirectory(), 'recording.ogg');
    const input = toneWav({ words, rate: 48_000 });
    await run(requireProgram('ffmpeg'), ['-loglevel', 'error', '-i', 'pipe:0', '-c:a', 'libopus', path], { input });
    const file = await readFile(path);
    file.fill(0, file.length * 0.4, file.length * 0.5);
    expect(await durationOf(file)).toBeGreaterThan(1_000);
  });

  test('of a film whose sound begins late is that from its beginning', async () => {
    const path = join(await temporaryDirectory(), 'film.webm');
    const film =
      '-f lavfi -t 4 -i testsrc=s=32x32:r=5 -itsoffset 2 -i pipe:0 -map 0:v -map 1:a -c:v libvpx -c:a libopus';
    const input = toneWav({ words, rate: 48_000 });
    await run(requireProgram('ffmpeg'), ['-loglevel', 'error', ...film.split(' '), path], { input });
    const measured = (await durationOf(await readFile(path))) as number;
    expect(Math.abs(measured - 2_000 - speechSeconds({ words }) * 1000)).toBeLessThan(toleranceMs);
  });

  test('is left out where time stamps jump further than the bytes can hold', async () => {
    const path = join(await temporaryDirectory(), 'recording.webm');
    const jump = "asetpts='PTS+if(gt(T,1),3600/TB,0)'";
    const input = toneWav({ words, rate: 48_000 });
    await run(requireProgram('ffmpeg'), ['-loglevel', 'error', '-i', 'pipe:0', '-af', jump, path], { input });
    expect(await durationOf(await readFile(path))).toBeUndefined();
  });
});

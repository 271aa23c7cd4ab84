/** Recordings that are joined by concatenation, decoded without ffmpeg, and files with several tracks. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { decodeTo } from '../../src/audio/decode/index.ts';
import { describeWith, requireProgram, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav, type Word } from '../support/tone-model.ts';
import { expectAgreement } from './agreement.ts';
import { decode, expectFailure } from './wasm-support.ts';

vi.setConfig({ testTimeout: 120_000 });

const ffmpeg = (args: string[], input?: Buffer) =>
  run(requireProgram('ffmpeg'), ['-nostdin', '-loglevel', 'error', ...args], input && { input });

async function encode(words: readonly Word[], format: string): Promise<Buffer> {
  const path = join(await temporaryDirectory(), 'encoded');
  const speech = toneWav({ words, rate: 48_000 });
  await ffmpeg(['-f', 'wav', '-i', 'pipe:0', ...format.split(' '), path], speech);
  return readFile(path);
}

async function written(...parts: readonly Uint8Array[]): Promise<string> {
  const path = join(await temporaryDirectory(), 'recording');
  await writeFile(path, Buffer.concat(parts));
  return path;
}

describeWith(['ffmpeg'], 'without ffmpeg', () => {
  const stereo = '-ar 44100 -ac 2';
  const mono = '-ar 24000 -ac 1';

  describe('all of several joined recordings is decoded', () => {
    test.each<[container: Container, first: string, second: string]>([
      ['ogg', `-c:a libvorbis ${stereo} -f ogg`, `-c:a libvorbis ${mono} -f ogg`],
      ['ogg', '-c:a libopus -f ogg', '-c:a libopus -ac 2 -f ogg'],
      ['ogg', '-c:a libopus -f ogg', `-c:a libvorbis ${stereo} -f ogg`],
      ['flac', `-c:a flac ${stereo} -f flac`, `-c:a flac ${mono} -f flac`],
      ['webm', '-c:a libopus -f webm', `-c:a libvorbis ${stereo} -f webm`],
      ['webm', '-c:a libopus -f webm -live 1', '-c:a libopus -f webm -live 1'],
      ['mp4', `-c:a flac ${stereo} -f mp4 -strict -2`, `-c:a flac ${mono} -f mp4 -strict -2`],
      ['wav', `-c:a pcm_s16le ${stereo} -f wav`, `-c:a pcm_f32le ${mono} -f wav`],
      ['mp3', `-c:a libmp3lame ${stereo} -write_xing 0 -f mp3`, `-c:a libmp3lame ${mono} -write_xing 0 -f mp3`],
    ])('%s: %s, then %s', async (container, first, second) => {
      const parts = [await encode(['alpha', 'über'], first), await encode(['back\\slash'], second)];
      const alone = await Promise.all(
        parts.map(async (part) => (await decode(await written(part), container)).samples),
      );
      const together = await decode(await written(...parts), container);
      expectAgreement(together, Int16Array.from(alone.flatMap((samples) => [...samples])), container);
    });

    test('also after one that was cut', async () => {
      const webm = await encode(['alpha', 'über'], '-c:a libopus -f webm');
      const half = webm.subarray(0, webm.length / 2);
      const [cut, whole, both] = await Promise.all(
        [[half], [webm], [half, webm]].map(async (parts) => decode(await written(...parts), 'webm')),
      );
      expect(both!.samples.length).toBe(cut!.samples.length + whole!.samples.length);
    });
  });

  describe('a part of a recording is no result:', () => {
    test('rejects a joined recording of which one needs ffmpeg', async () => {
      const [vorbis, flac] = [
        await encode(['alpha'], '-c:a libvorbis -f ogg'),
        await encode(['alpha'], '-c:a flac -f ogg'),
      ];
      const failure = /FLAC in ogg needs ffmpeg on the server/;
      await expectFailure(decode(await written(vorbis, flac), 'ogg'), 'recording-undecodable', failure);
    });

    test.each<[container: Container, format: string, damage: (file: Buffer) => Uint8Array[]]>([
      ['ogg', '-c:a libopus -f ogg -page_duration 200000', (file) => [file.subarray(0, 5000), file.subarray(5100)]],
      ['webm', '-c:a libopus -f webm', (file) => [file.fill(0, 5000, 6000)]],
      ['flac', '-c:a flac -f flac', (file) => [file.fill(0, ...headerOfFrame(file, 10))]],
    ])('rejects a file that is damaged before its end: %s', async (container, format, damage) => {
      const whole = await encode(['alpha', 'über'], format);
      const path = await written(...damage(whole));
      await expectFailure(decode(path, container), 'recording-undecodable', /file is damaged before its end/);
    });
  });

  test('rejects a file most of whose packets cannot be decoded', async () => {
    const opus = await encode(['alpha'], '-c:a libopus -f matroska');
    const path = await written(Buffer.from(opus.toString('latin1').replace('A_OPUS', 'A_FLAC'), 'latin1'));
    await expectFailure(decode(path, 'webm'), 'recording-undecodable', /most packets of the Matroska file are damaged/);
  });

  test('with ffmpeg, which reads only the first, rejects joined mp4 files that only ffmpeg decodes', async () => {
    const aac = await encode(['alpha'], '-c:a aac -f mp4');
    const path = await written(aac, aac);
    const job = { path, container: 'mp4', wavPath: `${path}.wav`, maxSeconds: 60 } as const;
    const options = { ffmpeg: requireProgram('ffmpeg'), signal: new AbortController().signal };
    await expectFailure(decodeTo(job, options), 'recording-undecodable', /mp4 file is joined from several recordings/);
  });

  describe('of several tracks', () => {
    test.each([
      ['the default one', 1, '-disposition:a:0 0 -disposition:a:1 default'],
      ['one with sound, although a silent one is the default,', 1, '-disposition:a:0 default -disposition:a:1 0'],
      ['the first with sound', 0, '-disposition:a:0 0 -disposition:a:1 0'],
    ])('%s is decoded', async (_which, spoken, disposition) => {
      const directory = await temporaryDirectory();
      const [speech, path] = [join(directory, 'speech.wav'), join(directory, 'tracks.mkv')];
      await writeFile(speech, toneWav({ words: ['alpha'], rate: 48_000 }));
      const silence = ['-f', 'lavfi', '-t', '3', '-i', 'anullsrc=r=48000:cl=mono'];
      const maps = spoken === 0 ? ['-map', '1', '-map', '0'] : ['-map', '0', '-map', '1'];
      await ffmpeg([...silence, '-i', speech, ...maps, '-c:a', 'flac', ...disposition.split(' '), path]);
      expect((await decode(path, 'webm')).durationMs).toBe(1250);
    });
  });
});

/** The range of the header of a FLAC frame: a marker of 15 bits, and its length is enough to make it unreadable. */
function headerOfFrame(file: Buffer, number: number): [start: number, end: number] {
  let at = file.indexOf('fLaC');
  for (let i = 0; i <= number; i++) at = file.indexOf(Buffer.from('fff8', 'hex'), at + 1);
  return [at, at + 6];
}

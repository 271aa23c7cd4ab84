/** A damaged recording is refused, with both decoders; a cut, joined or untidy one is decoded as far as it goes. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { decodeTo } from '../../src/audio/decode/index.ts';
import { makeOncePerRun } from '../support/once-per-run.ts';
import { noise } from '../support/noise.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { speechSeconds, toneWav, words } from '../support/tone-model.ts';
import '../support/shared-compile-cache.ts';

vi.setConfig({ testTimeout: 120_000 });

const lengthMs = speechSeconds({ words }) * 1000;

describeWith(['ffmpeg'], 'a recording', ({ ffmpeg }) => {
  async function encode(format: string): Promise<Buffer> {
    const path = join(await temporaryDirectory(), 'encoded');
    await makeOncePerRun(`damaged ${format}`, path, async () => {
      const args = ['-loglevel', 'error', '-f', 'wav', '-i', 'pipe:0', ...format.split(' '), path];
      await run(ffmpeg, args, { input: toneWav({ words, rate: 48_000 }) });
    });
    return readFile(path);
  }

  /** The length of the decoded recording. */
  async function decode(container: Container, file: Uint8Array, program: string | undefined): Promise<number> {
    const path = join(await temporaryDirectory(), 'recording');
    await writeFile(path, file);
    const request = { path, container, wavPath: `${path}.wav`, maxSeconds: 60 };
    return (await decodeTo(request, { ffmpeg: program, signal: new AbortController().signal })).endMs;
  }

  const decoders = [
    ['ffmpeg', ffmpeg],
    ['WASM', undefined],
  ] as const;

  const fragments = '-movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 500000 -f mp4';
  /** Opus in one cluster of unknown length, as browsers write it. */
  const oneCluster = '-c:a libopus -live 1 -cluster_time_limit 30000 -f webm';
  const both: readonly (readonly [Container, string])[] = [
    ['ogg', '-c:a libopus -f ogg'],
    ['ogg', '-c:a libvorbis -f ogg'],
    ['flac', '-c:a flac -f flac'],
    ['webm', '-c:a libopus -f webm'],
    ['webm', oneCluster],
    ['mp4', '-c:a libopus -f mp4'],
    ['mp4', `-c:a libopus ${fragments}`],
    ['mp3', '-c:a libmp3lame -b:a 64k -f mp3'],
    ['mp3', '-c:a libmp3lame -b:a 64k -write_xing 0 -id3v2_version 0 -f mp3'],
  ];
  const onlyFfmpeg: typeof both = [
    ['mp4', '-c:a aac -f mp4'],
    ['mp4', `-c:a aac ${fragments}`],
    ['mp4', '-c:a ac3 -f mp4'],
    ['mp4', '-c:a alac -f ipod'],
    ['webm', '-c:a aac -f matroska'],
    ['webm', '-c:a wavpack -f matroska'],
    ['ogg', '-c:a libspeex -ar 16000 -f ogg'],
  ];

  describe.each(decoders)('with %s', (_name, program) => {
    const formats = program === undefined ? both : [...both, ...onlyFfmpeg];

    test.each(formats)('%s is refused when a third of it is zeros or noise: %s', async (container, format) => {
      const whole = await encode(format);
      const [from, to] = [Math.floor(whole.length * 0.35), Math.floor(whole.length * 0.65)];
      for (const filling of [Buffer.alloc(to - from), noise(to - from)]) {
        const file = Buffer.concat([whole.subarray(0, from), filling, whole.subarray(to)]);
        await expect(decode(container, file, program)).rejects.toMatchObject({
          code: 'recording-undecodable',
          message: expect.stringMatching(/damaged/) as string,
        });
      }
    });

    test('mp4 is refused when its first sound is noise', async () => {
      const file = await encode(`-c:a ${program === undefined ? 'libopus' : 'aac'} -f mp4`);
      const soundAt = file.indexOf('mdat') + 4;
      noise(file.length / 4).copy(file, soundAt);
      await expect(decode('mp4', file, program)).rejects.toMatchObject({ code: 'recording-undecodable' });
    });

    test.each([
      ['ogg', '-c:a libopus -f ogg'],
      ['flac', '-c:a flac -f flac'],
      ['webm', oneCluster],
      ['mp4', `-c:a libopus ${fragments}`],
      ['mp3', '-c:a libmp3lame -b:a 64k -f mp3'],
    ] as const)('%s is decoded up to its end when it was cut: %s', async (container, format) => {
      const file = await encode(format);
      const ms = await decode(container, file.subarray(0, Math.floor(file.length * 0.7)), program);
      expect(ms / lengthMs).toBeGreaterThan(0.4);
      expect(ms / lengthMs).toBeLessThan(0.9);
    });

    const mp3 = '-c:a libmp3lame -b:a 64k -f mp3';
    const bare = '-c:a libmp3lame -b:a 64k -write_xing 0 -id3v2_version 0 -f mp3';
    const id3v1 = Buffer.concat([Buffer.from('TAGtitle'), Buffer.alloc(120)]);
    test.each<[string, (a: Buffer, b: Buffer) => Uint8Array[], number]>([
      ['noise at its start', (a) => [noise(3_000), a], 1],
      ['noise at its end', (a) => [a, noise(3_000)], 1],
      ['zeros at both ends', (a) => [Buffer.alloc(5_000), a, Buffer.alloc(5_000)], 1],
      ['tags of both kinds, joined', (a, b) => [a, id3v1, a, id3v1, b, id3v1], 3],
      ['zeros before the next of two', (a) => [a, Buffer.alloc(5_000), a], 2],
      ['cut frames where it was joined', (a, b) => [a.subarray(0, -50), b.subarray(100)], 2],
    ])('an mp3 with %s is decoded', async (_what, joined, recordings) => {
      const ms = await decode('mp3', Buffer.concat(joined(await encode(mp3), await encode(bare))), program);
      expect(Math.abs(ms - recordings * lengthMs)).toBeLessThan(recordings * 150);
    });

    test('a QuickTime file that begins with a wide box is decoded', async () => {
      const file = await encode('-c:a pcm_s16be -f mov');
      expect([file.readUInt32BE(0), file.toString('latin1', 4, 8), file.toString('latin1', 24, 28)]).toEqual([
        20,
        'ftyp',
        'wide',
      ]);
      file.write('\0\0\0\x08wide\0\0\0\x0cfree', 'latin1');
      expect(await decode('mp4', file, program)).toBe(lengthMs);
    });

    test('an mp4 whose header skips the first packets, as GStreamer writes it, is decoded', async () => {
      const file = await encode('-c:a libopus -f mp4');
      file.writeUInt16BE(14_337, file.indexOf('dOps') + 6);
      expect(Math.abs((await decode('mp4', file, program)) - lengthMs)).toBeLessThan(150);
    });

    const stereo = '-ar 44100 -ac 2';
    test.each<[Container, string, string]>([
      ['ogg', '-c:a libopus -f ogg', `-c:a libvorbis ${stereo} -f ogg`],
      ['webm', '-c:a libopus -f webm', '-c:a libvorbis -f webm'],
      ['flac', '-c:a flac -f flac', `-c:a flac ${stereo} -sample_fmt s32 -f flac`],
    ])('joined %s is decoded whole: %s, then %s', async (container, first, second) => {
      const ms = await decode(container, Buffer.concat([await encode(first), await encode(second)]), program);
      expect(Math.abs(ms - 2 * lengthMs)).toBeLessThan(150);
    });
  });

  test('an ogg with a wrong checksum is refused, and decoded if none is right', async () => {
    const file = await encode('-c:a libopus -page_duration 200000 -f ogg');
    const pages: number[] = [];
    for (let at = file.indexOf('OggS'); at !== -1; at = file.indexOf('OggS', at + 1)) pages.push(at);
    const damage = (page: number) => void (file[page + 22]! ^= 1);
    damage(pages[5]!);
    for (const [, program] of decoders) {
      await expect(decode('ogg', file, program)).rejects.toMatchObject({ code: 'recording-undecodable' });
    }
    pages.filter((_, i) => i !== 5).forEach(damage);
    expect(Math.abs((await decode('ogg', file, undefined)) - lengthMs)).toBeLessThan(150);
  });
});

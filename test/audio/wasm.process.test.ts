import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { sampleRate } from '../../lib/wav.ts';
import { hostileFiles } from '../support/hostile.ts';
import { noise } from '../support/noise.ts';
import { describeWith } from '../support/programs.ts';
import { recordingKind, recordings, usual } from '../support/recordings.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { speechSeconds, toneWav, wav, words } from '../support/tone-model.ts';
import { agreements, expectAgreement, ffmpegOf, givesTheSame, referenceOf } from './agreement.ts';
import { claimed, decode, expectFailure, surroundings, watchThreads } from './wasm-support.ts';

vi.setConfig({ testTimeout: 120_000 });

describeWith(['ffmpeg'], 'decoding without ffmpeg', (programs) => {
  const ffmpeg = ffmpegOf(programs.ffmpeg);

  const reference = (path: string) => referenceOf(ffmpeg, path);

  givesTheSame(ffmpeg, agreements.quarter);

  describe('decodes of a truncated file', () => {
    test.each(['webm/opus as MediaRecorder writes it (no duration, live clusters)', 'webm/opus ordinary'])(
      'as much as ffmpeg: %s',
      async (name) => {
        const directory = await temporaryDirectory();
        const whole = await readFile(await recordingKind(name).make(words, { directory }));
        for (const share of [0.05, 0.5, 0.999]) {
          const path = join(directory, `${share}.webm`);
          await writeFile(path, whole.subarray(0, share * whole.length));
          expectAgreement(await decode(path, 'webm'), await reference(path), 'webm');
        }
      },
    );

    test.each(['ogg/opus', 'ogg/vorbis', 'mp3 with Xing header', 'flac', 'wav s16 at 48 kHz, stereo'])(
      'about as much as ffmpeg: %s',
      async (name) => {
        const { container, make } = recordingKind(name);
        const path = await make(words, { directory: await temporaryDirectory() });
        await writeFile(path, (await readFile(path)).subarray(0, -10_000));
        const { samples } = await decode(path, container);
        expect(samples.length / (await reference(path)).length).toBeCloseTo(1, 1);
      },
    );

    test('a webm up to the garbage at its end', async () => {
      const path = await recordingKind('webm/opus ordinary').make(words, { directory: await temporaryDirectory() });
      const whole = await readFile(path);
      await writeFile(path, Buffer.concat([whole.subarray(0, whole.length / 2), Buffer.alloc(100_000, 0x55)]));
      const { samples } = await decode(path, 'webm');
      expect(samples.length / sampleRate / speechSeconds({ words })).toBeCloseTo(0.5, 1);
    }, 10_000);

    test.each([0, 0xffff_ffff])('a wav with the length %i to its end', async (claimed) => {
      const speech = toneWav({ words, rate: sampleRate });
      speech.writeUInt32LE(claimed, 40);
      const { samples } = await decode(await written(speech, 'wav'), 'wav');
      expect(samples).toHaveLength((speech.length - 44) / 2);
    });
  });

  describe('rejects', () => {
    test.each(recordings.filter(({ needsFfmpegToDecode }) => needsFfmpegToDecode))(
      'what needs ffmpeg, and says so: $name',
      async ({ container, make }) => {
        const path = await make(usual.words, { directory: await temporaryDirectory(), language: usual.language });
        await expectFailure(
          decode(path, container),
          'recording-undecodable',
          /AAC in mp4.* needs ffmpeg on the server/,
        );
      },
    );

    test.each<{ codec: string; container: Container; format: string; rename?: [from: string, to: string] }>([
      { codec: 'ALAC in mp4', container: 'mp4', format: '-c:a alac -f ipod' },
      { codec: 'AMR in mp4', container: 'mp4', format: '-c:a alac -f ipod', rename: ['alac', 'samr'] },
      { codec: 'AAC in Matroska', container: 'webm', format: '-c:a aac -f matroska' },
      { codec: 'DTS in Matroska', container: 'webm', format: '-c:a dca -strict -2 -f matroska' },
      { codec: 'WavPack in Matroska', container: 'webm', format: '-c:a wavpack -f matroska' },
      { codec: 'TTA in Matroska', container: 'webm', format: '-c:a tta -f matroska' },
      { codec: 'Windows audio in Matroska', container: 'webm', format: '-c:a wmav2 -f matroska' },
      { codec: 'FLAC in ogg', container: 'ogg', format: '-c:a flac -f ogg' },
      { codec: 'Speex in ogg', container: 'ogg', format: '-c:a libspeex -ar 16000 -f ogg' },
      { codec: 'IMA ADPCM in wav', container: 'wav', format: '-c:a adpcm_ima_wav -f wav' },
      { codec: 'MP3 in wav', container: 'wav', format: '-c:a libmp3lame -f wav' },
      { codec: 'GSM in wav', container: 'wav', format: '-c:a adpcm_ima_wav -f wav', rename: ['\x11\0', '\x31\0'] },
    ])('$codec, which needs ffmpeg', async ({ codec, container, format, rename: [from, to] = ['', ''] }) => {
      const path = join(await temporaryDirectory(), 'recording');
      await ffmpeg(['-f', 'lavfi', '-i', 'sine=duration=0.2', ...format.split(' '), path]);
      await writeFile(path, (await readFile(path, 'latin1')).replaceAll(from, to), 'latin1');
      await expectFailure(
        decode(path, container),
        'recording-undecodable',
        new RegExp(`: ${codec} needs ffmpeg on the server`),
      );
    });

    test('an mp4 whose codec is unknown, with its id', async () => {
      const path = join(await temporaryDirectory(), 'recording');
      await ffmpeg(['-f', 'lavfi', '-i', 'sine=duration=0.2', '-c:a', 'alac', '-f', 'ipod', path]);
      await writeFile(path, (await readFile(path, 'latin1')).replaceAll('alac', 'Qclp'), 'latin1');
      await expectFailure(decode(path, 'mp4'), 'recording-undecodable', /unsupported codec \(Qclp in mp4\)/);
    });

    test.each([
      ['webm', 'ac3', 'dca', 'matroska', 'AC-3 and DTS in Matroska need ffmpeg on the server.'],
      ['mp4', 'alac', 'aac', 'mov', 'ALAC in mp4 needs ffmpeg on the server, and apac is not supported.'],
    ] as const)('%s with tracks of %s and %s, and names both', async (container, one, other, format, message) => {
      const path = join(await temporaryDirectory(), 'recording');
      const sine = ['-f', 'lavfi', '-i', 'sine=duration=0.2', '-map', '0', '-map', '0', '-strict', '-2'];
      await ffmpeg([...sine, '-c:a:0', one, '-c:a:1', other, '-f', format, path]);
      await writeFile(path, (await readFile(path, 'latin1')).replaceAll('mp4a', 'apac'), 'latin1');
      await expectFailure(decode(path, container), 'recording-undecodable', new RegExp(message));
    });

    test('an mp4 that begins with a segment type, for its codec', async () => {
      const path = await recordingKind('mp4/aac fragmented (Safari)').make(usual.words, {
        directory: await temporaryDirectory(),
      });
      const segmentType = Buffer.from('\0\0\0\x10stypmsdh\0\0\0\0', 'latin1');
      await writeFile(path, Buffer.concat([segmentType, await readFile(path)]));
      await expectFailure(decode(path, 'mp4'), 'recording-undecodable', /AAC in mp4 needs ffmpeg on the server/);
    });

    test.each(['fffb9000', '49443303000000000000'])('an mp3 of noise behind %s', async (head) => {
      const path = await written(Buffer.concat([Buffer.from(head, 'hex'), noise(60_000)]), 'mp3');
      await expectFailure(decode(path, 'mp3'), 'recording-undecodable', /most of the mp3 file is not MPEG audio/);
    });

    // A decoder that opens nothing does not care what a script names: test/transcription/hostile.process.test.ts has all.
    const isOtherScript = (name: string) =>
      name.endsWith(' behind an ID3 tag') && !name.startsWith('HLS playlist of a URL');
    const withoutAudio = hostileFiles.filter(({ holds, name }) => holds === 'nothing' && !isOtherScript(name));
    test.each(claimed(withoutAudio))('$name', async ({ container, make }) => {
      const path = await make(await surroundings());
      await expectFailure(decode(path, container), 'recording-undecodable', /^The recording could not be decoded: /);
      expect(await readdir(dirname(path))).toEqual([basename(path)]);
    });

    test('a file without audio, naming what is missing', async () => {
      const [video] = claimed(hostileFiles.filter(({ name }) => name === 'mp4 with video only'));
      const path = await video!.make(await surroundings());
      await expectFailure(decode(path, 'mp4'), 'recording-undecodable', /no audio track was found in the mp4 file/);
    });

    test.each([
      { claim: 'a rate of 1 Hz', rate: 1, channels: 1, message: /1 Hz, not between 1000 and 192000/ },
      { claim: 'a rate of 384 kHz', rate: 384_000, channels: 1, message: /384000 Hz/ },
      { claim: 'a rate of 4 GHz', rate: 4e9, channels: 1, message: /4000000000 Hz/ },
      { claim: 'no channels', rate: sampleRate, channels: 0, message: /channels is 0,/ },
      { claim: 'nine channels', rate: sampleRate, channels: 9, message: /channels is 9, not between 1 and 8/ },
      { claim: '65535 channels', rate: sampleRate, channels: 65_535, message: /channels is 65535,/ },
    ])('a wav that claims $claim', async ({ rate, channels, message }) => {
      const speech = toneWav({ words, rate: sampleRate });
      speech.writeUInt16LE(channels, 22);
      speech.writeUInt32LE(rate, 24);
      await expectFailure(decode(await written(speech, 'wav'), 'wav'), 'recording-undecodable', message);
    });

    test('a missing file as engine-failed', async () => {
      const path = join(await temporaryDirectory(), 'nothing.webm');
      await expectFailure(decode(path, 'webm'), 'engine-failed', /could not be read/);
    });
  });

  test.each(claimed(hostileFiles.filter(({ holds }) => holds === 'anything')))(
    'is quick and sparing with $name',
    async ({ container, make }) => {
      const path = await make(await surroundings());
      const samples = await decode(path, container).then(
        (decoded) => decoded.samples.length,
        () => 0,
      );
      expect(samples).toBeLessThan(60 * sampleRate);
    },
    20_000,
  );

  describe('stops at the maximum duration', () => {
    test('after exactly one sample too many', async () => {
      const silence = (samples: number): Promise<string> =>
        written(wav(new Int16Array(samples), { rate: sampleRate, channels: 1 }), 'wav');
      const limit = { maxSeconds: 10 };
      expect(await decode(await silence(160_000), 'wav', limit)).toMatchObject({ durationMs: 10_000 });
      const tooLong = decode(await silence(160_001), 'wav', limit);
      await expectFailure(tooLong, 'recording-too-long', /limit of 10 seconds/);
    });
  });

  test('does not start when already aborted', async () => {
    const threads = watchThreads();
    const reason = new Error('the caller has gone');
    await expect(decode('none', 'wav', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(threads.started).toBe(0);
  });
});

async function written(bytes: Uint8Array, container: Container): Promise<string> {
  const path = join(await temporaryDirectory(), `recording.${container}`);
  await writeFile(path, bytes);
  return path;
}

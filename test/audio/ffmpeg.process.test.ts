import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import type { FfmpegOptions } from '../../src/audio/ffmpeg/decode-track.ts';
import { decodeWithFfmpeg } from '../../src/audio/ffmpeg/index.ts';
import { describeWith, run } from '../support/programs.ts';
import { processesWith, until } from '../support/processes.ts';
import { stopTheDisk } from '../support/slow-disk.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { loudness } from '../support/tone-listener.ts';
import { toneWav, words, wordTone } from '../support/tone-model.ts';

const stay = () => ({ signal: new AbortController().signal });

describeWith(['ffmpeg'], 'decoding with ffmpeg', ({ ffmpeg }) => {
  test('loses no audio on a slow disk, as under many uploads', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'upload');
    await writeFile(path, toneWav({ words: ['alpha'], rate: 16_000 }));
    const release = await stopTheDisk();
    const job = { path, container: 'wav', wavPath: join(directory, 'decoded.wav'), maxSeconds: 60 } as const;
    const decoding = decodeWithFfmpeg(ffmpeg, job, stay());
    decoding.catch(() => undefined); // it may fail before anybody waits for it
    try {
      await until('an ffmpeg that has begun all the same has ended', () => processesWith(path).length === 0);
    } finally {
      await release();
    }
    expect((await decoding).endMs).toBe(1250);
  });

  const speech = ['-i', 'pipe:0'];
  const silence = ['-f', 'lavfi', '-t', '2', '-i', 'anullsrc=r=48000:cl=mono'];

  /** The words that are left of two, in a recording that ffmpeg makes with these arguments. */
  async function wordsOf(container: Container, args: readonly string[]): Promise<string[]> {
    const directory = await temporaryDirectory();
    const [path, wavPath] = [join(directory, 'upload'), join(directory, 'decoded.wav')];
    const input = toneWav({ words: ['alpha', 'golf'], rate: 48_000 });
    await run(ffmpeg, ['-loglevel', 'error', ...args, path], { input });
    await decodeWithFfmpeg(ffmpeg, { path, container, wavPath, maxSeconds: 60 }, stay());
    const decoded = await readFile(wavPath);
    return words.filter((word) => loudness(decoded, wordTone(word)) > 0.01);
  }

  test.each([
    ['mov', 'mp4', '-c:a pcm_s16be -f mov'],
    ['mov', 'mp4', '-c:a pcm_s24le -f mov'],
    ['m4a', 'mp4', '-c:a alac -f ipod'],
    ['mp4', 'mp4', '-c:a ac3 -f mp4'],
    ['mka', 'webm', '-c:a pcm_s16be -f matroska'],
    ['mka', 'webm', '-c:a mp2 -f matroska'],
    ['mka', 'webm', '-c:a eac3 -f matroska'],
    ['mka', 'webm', '-c:a dca -strict -2 -f matroska'],
    ['mka', 'webm', '-c:a wavpack -f matroska'],
    ['mka', 'webm', '-c:a tta -f matroska'],
    ['mka', 'webm', '-c:a wmav2 -f matroska'],
    ['mka', 'webm', '-c:a truehd -ac 2 -strict -2 -f matroska'],
    ['wav', 'wav', '-c:a wmav1 -f wav'],
    ['wav', 'wav', '-c:a adpcm_ima_wav -f wav'],
    ['wav', 'wav', '-c:a adpcm_ms -f wav'],
    ['wav', 'wav', '-c:a g722 -ar 16000 -f wav'],
    ['wav', 'wav', '-c:a g726 -ar 8000 -f wav'],
    ['wav', 'wav', '-c:a libgsm_ms -ar 8000 -f wav'],
    ['ogg', 'ogg', '-c:a libspeex -ar 16000 -f ogg'],
  ] as const)('decodes %s (%s) made with %s', async (_extension, container, encode) => {
    expect(await wordsOf(container, [...speech, ...encode.split(' ')])).toEqual(['alpha', 'golf']);
  });

  test.each([
    ['of opposite phase', 'aeval=val(0)|-val(0)'],
    ['of opposite phase from the second word on', "aeval='val(0)|val(0)*if(lt(t,0.9),1,-1)'"],
    ['of which one is silent', 'aeval=0|val(0)'],
    ['of which the center has the speech', 'aeval=0|0|val(0)|0|0|0:c=5.1'],
  ])('returns all words of channels %s', async (_which, filter) => {
    expect(await wordsOf('wav', [...speech, '-af', filter, '-f', 'wav'])).toEqual(['alpha', 'golf']);
  });

  const both = '-map 0:a -map 1:a';
  test.each([
    ['that is the default', 'webm', `${both} -c:a libopus -disposition:a:0 0 -disposition:a:1 default -f matroska`],
    ['beside a silent default', 'webm', `${both} -c:a libopus -disposition:a:0 default -disposition:a:1 0 -f webm`],
    ['beside a silent one in mp4', 'mp4', `${both} -c:a aac -f mp4`],
    ['after two silent ones', 'mp4', '-map 0:a -map 0:a -map 1:a -c:a aac -f mp4'],
  ] as const)('returns the words of a track %s', async (_which, container, encode) => {
    expect(await wordsOf(container, [...silence, ...speech, ...encode.split(' ')])).toEqual(['alpha', 'golf']);
  });

  test('by too much audio is recording-too-long, and ends ffmpeg', async () => {
    const directory = await temporaryDirectory();
    const [path, wavPath] = [join(directory, 'upload'), join(directory, 'decoded.wav')];
    await run(ffmpeg, ['-loglevel', 'error', '-f', 'lavfi', '-t', '60', '-i', 'anullsrc=r=8000', '-f', 'flac', path]);
    const decoding = decodeWithFfmpeg(ffmpeg, { path, container: 'flac', wavPath, maxSeconds: 1 }, stay());
    await expect(decoding).rejects.toMatchObject({ code: 'recording-too-long' });
    expect(await readdir(directory)).toEqual(['upload']);
    await until('ffmpeg has ended', () => processesWith(path).length === 0);
  });

  test('returns silence where all tracks are silent', async () => {
    expect(await wordsOf('mp4', [...silence, ...'-map 0:a -map 0:a -c:a aac -f mp4'.split(' ')])).toEqual([]);
  });

  const nineChannels = 'aeval=val(0)|0|0|0|0|0|0|0|0';
  /** A codec that is not decoded: no one records with it. */
  const unknown = 'sonic';

  test('returns silence where a track beside the silent one cannot be decoded', async () => {
    const encode = `${both} -c:a:0 libopus -c:a:1 ${unknown} -strict -2 -disposition:a:0 default -f matroska`;
    expect(await wordsOf('webm', [...silence, ...speech, ...encode.split(' ')])).toEqual([]);
  });

  describe('of two tracks of which the default cannot be decoded', () => {
    const undecodable = `-disposition:a:0 default -c:a:0 ${unknown} -strict -2 -f matroska`;

    test('returns the words of the other', async () => {
      const encode = `-map 0:a -map 0:a -c:a:1 libopus ${undecodable}`;
      expect(await wordsOf('webm', [...speech, ...encode.split(' ')])).toEqual(['alpha', 'golf']);
    });

    test.each([
      ['is silent', `${both} -c:a:1 libopus`, [...speech, ...silence], 'sonic, opus'],
      [
        'has nine channels',
        `-map 0:a -map 0:a -c:a:1 pcm_s16le -filter:a:1 ${nineChannels}`,
        speech,
        'sonic, pcm_s16le',
      ],
    ])('refuses the recording of which the other one %s, and names both', async (_which, encode, inputs, codecs) => {
      const decoding = wordsOf('webm', [...inputs, ...`${encode} ${undecodable}`.split(' ')]);
      await expect(decoding).rejects.toMatchObject({
        code: 'recording-undecodable',
        message: expect.stringContaining(
          `no audio was found in the Matroska file with the codecs ${codecs}.`,
        ) as string,
      });
    });
  });

  test.each([
    ['of 9 channels', 'wav', `-af ${nineChannels} -f wav`, 'it has 9 channels'],
    ['of 16 channels', 'wav', `-af aeval=val(0)${'|0'.repeat(15)} -f wav`, 'it has 16 channels'],
    ['of 384 kHz', 'flac', '-ar 384000 -f flac', 'its sample rate is 384000 Hz'],
    ['of a codec that is not allowed', 'webm', `-c:a ${unknown} -strict -2 -f matroska`, `with the codec ${unknown}`],
  ] as const)('refuses a recording %s and says so', async (_which, container, encode, says) => {
    await expect(wordsOf(container, [...speech, ...encode.split(' ')])).rejects.toMatchObject({
      code: 'recording-undecodable',
      message: expect.stringContaining(says) as string,
    });
  });

  test('keeps the title of a recording out of the cause of a failure', async () => {
    const titled = ['-metadata', 'title=secret\nin two lines', '-c:a', unknown, '-strict', '-2', '-f', 'matroska'];
    const failure = await wordsOf('webm', [...speech, ...titled]).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({
      cause: { message: expect.stringMatching(/^ffmpeg: exit \d+: .*decoder/) as string },
    });
    expect(String((failure as Error).cause)).not.toMatch(/secret|two lines/);
  });
});

describe('a failing ffmpeg', () => {
  /** Decodes with a program that is this shell script. */
  async function decodeWith(script: string, options: Partial<FfmpegOptions> = {}) {
    const directory = await temporaryDirectory();
    const [ffmpeg, path] = [join(directory, 'ffmpeg'), join(directory, 'upload')];
    await writeFile(ffmpeg, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await writeFile(path, 'RIFF');
    const job = { path, container: 'wav', wavPath: join(directory, 'decoded.wav'), maxSeconds: 1 } as const;
    const decoding = decodeWithFfmpeg(ffmpeg, job, { ...stay(), ...options });
    return decoding.finally(async () => expect((await readdir(directory)).sort()).toEqual(['ffmpeg', 'upload']));
  }

  test.each(['SEGV', 'ABRT', 'BUS', 'KILL', 'TERM'])('by SIG%s is engine-failed: it crashed', async (signal) => {
    const decoding = decodeWith(`head -c 320 /dev/zero; kill -${signal} $$`);
    await expect(decoding).rejects.toMatchObject({
      code: 'engine-failed',
      cause: { message: expect.stringContaining(`ffmpeg: exit SIG${signal}`) as string },
    });
  });

  test.each<[string, string, Partial<FfmpegOptions>]>([
    ['our deadline', 'sleep 60', { timeoutMs: 50 }],
    ['the soft limit of processor time', 'kill -XCPU $$', {}],
    ['the hard limit of processor time', 'while :; do :; done', { cpuSeconds: 1 }],
  ])('by %s is engine-timeout', async (_which, script, options) => {
    await expect(decodeWith(script, options)).rejects.toMatchObject({ code: 'engine-timeout' });
  });

  test('by its exit code, or without audio, is recording-undecodable', async () => {
    for (const script of ['exit 183', 'exit 0']) {
      await expect(decodeWith(script)).rejects.toMatchObject({ code: 'recording-undecodable' });
    }
  });

  test('by something else than sound is an error, and does not fill the memory', async () => {
    await expect(decodeWith('exec cat /dev/zero')).rejects.toThrow('ffmpeg wrote something else than Matroska');
  });

  test('by an abort rejects with its reason', async () => {
    const reason = new Error('the caller has gone');
    const late = new AbortController();
    const decoding = decodeWith('exec sleep 60', { signal: late.signal });
    late.abort(reason);
    await expect(decoding).rejects.toBe(reason);
    await expect(decodeWith('exit 0', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hostileFiles } from './hostile.ts';
import { describeWith, run } from './programs.ts';
import { recordings, usual } from './recordings.ts';
import { tonePcm, wav, words, writeToneModel } from './tone-model.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const everyWord = words.join(' ');
const scripts = hostileFiles.filter(({ name }) => name.endsWith('of a file beside it'));

let directory: string;
const inDirectory = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parlance-recordings-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describeWith(['whisper-cli'], 'the tone model', (programs) => {
  async function transcribe(name: string, speech: Buffer): Promise<string> {
    const file = inDirectory(name);
    await writeFile(file, speech);
    // Of each half minute only the first 7.7 seconds, the likeliest words, and nothing handed from file to file.
    const inHaste = ['-ac', '384', '-bs', '1', '-bo', '1', '-mc', '0', '-t', '1'];
    const args = ['-np', '-m', inDirectory('model.bin'), '-l', 'auto', ...inHaste, '-oj', '-f', file];
    await run(programs['whisper-cli'], args, { deadlineMs: 100_000 });
    const { transcription } = JSON.parse(await readFile(`${file}.json`, 'utf8')) as {
      transcription: { text: string }[];
    };
    return transcription
      .map(({ text }) => text)
      .join('')
      .trim();
  }

  beforeAll(async () => {
    await writeToneModel(inDirectory('model.bin'));
  });

  test('recognizes something else at a wrong rate', async () => {
    const speech = wav(tonePcm({ words, rate: 44_100 }), { rate: 48_000, channels: 1 });
    expect(await transcribe('wrong-rate.wav', speech)).not.toBe(everyWord);
  });

  test('recognizes something else without one of two channels', async () => {
    const left = tonePcm({ words, rate: 16_000, channels: 2 }).filter((_, i) => i % 2 === 0);
    const speech = wav(left, { rate: 16_000, channels: 1 });
    expect(await transcribe('left-only.wav', speech)).not.toBe(everyWord);
  });
});

/** test/transcription has what the service makes of them. */
describeWith(['ffmpeg'], 'what the tests make', (programs) => {
  const paths = new Map<string, string>();
  const bytesOf = (name: string): Promise<Buffer> => readFile(paths.get(name)!);

  beforeAll(async () => {
    const targetFile = inDirectory('target.mp4');
    const surroundings = { directory, targetFile, targetUrl: 'http://127.0.0.1:9/target.mp4' };
    await Promise.all([
      ...recordings.map(async ({ name, make }) =>
        paths.set(name, await make(usual.words, { directory, language: usual.language })),
      ),
      ...scripts.map(async ({ name, make }) => paths.set(name, await make(surroundings))),
    ]);
    await copyFile(paths.get('mp4/aac fragmented (Safari)')!, targetFile);
  });

  test('MediaRecorder knows neither the duration nor the size of its clusters', async () => {
    const live = await bytesOf('webm/opus as MediaRecorder writes it (no duration, live clusters)');
    const ordinary = await bytesOf('webm/opus ordinary');
    const duration = Buffer.from('448988', 'hex');
    const clusterOfUnknownSize = Buffer.from('1f43b67501ffffffffffffff', 'hex');
    expect(ordinary.includes(duration)).toBe(true);
    expect(live.includes(duration)).toBe(false);
    expect(live.includes(clusterOfUnknownSize)).toBe(true);
  });

  test('one mp4 ends with its moov and one is in fragments', async () => {
    const ordinary = await bytesOf('mp4/aac with the moov at the end');
    expect(ordinary.indexOf('moov')).toBeGreaterThan(ordinary.indexOf('mdat'));
    expect((await bytesOf('mp4/aac fragmented (Safari)')).includes('moof')).toBe(true);
  });

  test('an mp3 begins with a Xing header, with sound or with an ID3 tag', async () => {
    expect((await bytesOf('mp3 with Xing header')).includes('Xing')).toBe(true);
    expect((await bytesOf('mp3 without Xing header')).includes('Xing')).toBe(false);
    expect((await bytesOf('mp3 with an ID3 tag')).toString('latin1', 0, 3)).toBe('ID3');
  });

  test('a wav out of a pipe does not know its length', async () => {
    const piped = await bytesOf('wav of unknown length, as it comes out of a pipe');
    expect(piped.readUInt32LE(piped.indexOf('data') + 4)).toBe(0xffff_ffff);
  });

  test('a script makes plain ffmpeg read another file', async () => {
    const read = await Promise.allSettled(scripts.map(({ name }) => decode(programs.ffmpeg, paths.get(name)!)));
    expect(read.map(({ status }) => status)).toContain('fulfilled');
  });
});

async function decode(ffmpeg: string, recording: string): Promise<string> {
  const decoded = `${recording}.16k.wav`;
  const mono16k = ['-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le', '-bitexact'];
  await run(ffmpeg, ['-nostdin', '-loglevel', 'error', '-i', recording, ...mono16k, decoded]);
  return decoded;
}

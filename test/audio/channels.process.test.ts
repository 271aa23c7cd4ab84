/** The channels of a stereo recording, decoded one by one with either decoder. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Recording } from '../../engines/contract/index.ts';
import { samplesOf } from '../../lib/wav.ts';
import { decodeChannels } from '../../src/audio/channels.ts';
import { createDecoder } from '../../src/audio/decode/index.ts';
import { describeWith, requireProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { wav } from '../support/tone-model.ts';

const rate = 48_000;
const { signal } = new AbortController();

/** A second of a tone of its own on each channel; 0 Hz is silence. */
async function upload(...tones: readonly number[]): Promise<Recording> {
  const channels = tones.length;
  const pcm = Int16Array.from({ length: rate * channels }, (_, i) => {
    const hz = tones[i % channels] ?? 0;
    return 9_000 * Math.sin((2 * Math.PI * hz * Math.floor(i / channels)) / rate);
  });
  const path = join(await temporaryDirectory(), 'upload');
  const bytes = wav(pcm, { rate, channels });
  await writeFile(path, bytes);
  return { path, bytes: bytes.length, container: 'wav', mediaType: 'audio/wav' };
}

const crossings = (samples: Int16Array) =>
  samples.reduce((count, sample, i) => count + Number(sample >= 0 && (samples[i - 1] ?? 0) < 0), 0);

function keepsApart(ffmpeg: () => string | undefined): void {
  const split = async (recording: Recording) => {
    const decode = createDecoder({ ffmpeg: ffmpeg(), maxSeconds: 60, accountOf: () => undefined });
    return await decodeChannels((channel) => decode({ ...recording, channel }, { signal }), signal);
  };

  test('has the sound of one channel in each file', async () => {
    const channels = await split(await upload(440, 1_000));
    const measured = await Promise.all(channels.map(async (channel) => crossings(await samplesOf(channel))));
    expect(measured[0]).toBeCloseTo(440, -1);
    expect(measured[1]).toBeCloseTo(1_000, -1);
    expect(channels.map(({ isSilent, endMs }) => [isSilent, endMs])).toEqual([[false, 1_000], [false, 1_000]]); // prettier-ignore
  });

  test('marks a silent channel', async () => {
    expect((await split(await upload(0, 1_000))).map(({ isSilent }) => isSilent)).toEqual([true, false]);
  });

  test.each([
    ['the same sound twice', [440, 440]],
    ['one channel', [440]],
    ['six channels', [440, 500, 600, 700, 800, 900]],
  ])('rejects %s', async (_what, tones) => {
    const recording = await upload(...tones);
    await expect(split(recording)).rejects.toMatchObject({ code: 'parameter-not-supported' });
    if (tones.length !== 2) expect(await readdir(join(recording.path, '..'))).toEqual(['upload']);
  });
}

describeWith(['ffmpeg'], 'ffmpeg', () => keepsApart(() => requireProgram('ffmpeg')));
describe('WASM', () => keepsApart(() => undefined));

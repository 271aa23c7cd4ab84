/** That the WASM decoders give what ffmpeg gives, for many kinds of recordings: a quarter on a push. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { run } from '../support/programs.ts';
import { quarterOf } from '../support/quarter.ts';
import { recordings, usual } from '../support/recordings.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav, words } from '../support/tone-model.ts';
import { decode, readWav, type Decoded } from './wasm-support.ts';

export type Ffmpeg = (args: readonly string[]) => Promise<string>;

export const ffmpegOf =
  (program: string): Ffmpeg =>
  (args) =>
    run(program, ['-nostdin', '-loglevel', 'quiet', ...args], { deadlineMs: 100_000 });

interface Row {
  readonly name: string;
  readonly container: Container;
  readonly make: (ffmpeg: Ffmpeg) => Promise<string>;
  /** Arguments of ffmpeg for the reference, where it has no mean of all channels of its own. */
  readonly mono?: readonly string[];
}

/** Speech encoded by ffmpeg with these arguments. */
const encoded = (container: Container, args: string, name = `${container} made with ${args}`): Row => ({
  name,
  container,
  async make(ffmpeg) {
    const directory = await temporaryDirectory();
    const speech = join(directory, 'speech.wav');
    await writeFile(speech, toneWav({ ...usual, rate: 48_000 }));
    const path = join(directory, `recording.${container}`);
    await ffmpeg(['-i', speech, ...args.split(' '), path]);
    return path;
  },
});

const meanOfSix = `pan=mono|c0=${Array.from({ length: 6 }, (_, i) => `${1 / 6}*c${i}`).join('+')}`;
const sixChannels = (container: Container, args: string): Row => ({
  ...encoded(container, `-af pan=5.1|c0=c0|c1=0.5*c0|c3=0.2*c0|c5=0.3*c0 ${args}`, `six channels of ${container}`),
  mono: ['-af', meanOfSix],
});

const rows: readonly Row[] = [
  ...recordings
    .filter(({ needsFfmpegToDecode }) => !needsFfmpegToDecode)
    .map(({ name, container, make }) => ({
      name,
      container,
      make: async () => make(words, { directory: await temporaryDirectory() }),
    })),
  encoded('webm', '-c:a pcm_s16le -f matroska'),
  encoded('webm', '-c:a flac -f matroska'),
  encoded('webm', '-c:a libvorbis -f webm'),
  encoded('webm', '-c:a libmp3lame -f matroska'),
  encoded('mp4', '-c:a libopus -f mp4 -movflags empty_moov+default_base_moof -frag_duration 500000'),
  encoded('mp4', '-c:a flac -f mp4 -strict -2'),
  encoded('wav', '-c:a pcm_u8 -f wav'),
  encoded('wav', '-c:a pcm_s32le -f wav'),
  encoded('wav', '-c:a pcm_f64le -f wav'),
  encoded('wav', '-c:a pcm_alaw -f wav'),
  encoded('wav', '-c:a pcm_s16le -ar 11025 -f wav'),
  encoded('wav', '-c:a pcm_s16le -ar 192000 -f wav'),
  encoded('flac', '-c:a flac -ar 96000 -sample_fmt s32 -f flac'),
  sixChannels('wav', '-c:a pcm_s24le -f wav'),
  sixChannels('webm', '-c:a libopus -f webm'),
];

export const agreements = quarterOf(rows, ({ container }) => container);

export function givesTheSame(ffmpeg: Ffmpeg, some: readonly Row[]): void {
  describe('gives the same result as ffmpeg', () => {
    test.each(some)('$name', async ({ container, make, mono }) => {
      const path = await make(ffmpeg);
      expectAgreement(await decode(path, container), await referenceOf(ffmpeg, path, mono), container);
    });
  });
}

/** What a well-known decoder makes of it. */
export async function referenceOf(
  ffmpeg: Ffmpeg,
  path: string,
  mono: readonly string[] = ['-ac', '1'],
): Promise<Int16Array> {
  const wavPath = `${path}.reference.wav`;
  const format = ['-ar', String(sampleRate), '-c:a', 'pcm_s16le', '-map_metadata', '-1', '-bitexact'];
  await ffmpeg(['-i', path, ...mono, ...format, wavPath]);
  return (await readWav(wavPath)).samples;
}

/** The two resamplers differ, and ffmpeg rounds to 16 bits before it resamples: 52 dB at least was measured. */
const leastSignalToNoiseDb = 50;

/** The longest Opus frame in these recordings: ffmpeg leaves out the silence that fills the last one, as we do not. */
const longestFrameSeconds = 0.06;

export function expectAgreement(
  { header, samples, durationMs }: Decoded,
  reference: Int16Array,
  container: Container,
): void {
  expect(header).toEqual(wavHeader(2 * samples.length));
  expect(durationMs).toBe(Math.ceil(samples.length / 16));
  const isExact = container === 'wav' || container === 'flac';
  const tolerance = isExact ? 1 : longestFrameSeconds * sampleRate;
  expect(Math.abs(samples.length - reference.length)).toBeLessThanOrEqual(tolerance);
  expect(signalToNoiseDb(reference, samples)).toBeGreaterThan(leastSignalToNoiseDb);
}

/** At the lag, of at most 2 ms, at which they agree best. */
function signalToNoiseDb(reference: Int16Array, samples: Int16Array): number {
  const lags = Array.from({ length: 65 }, (_, i) => i - 32);
  return Math.max(...lags.map((lag) => alignedSignalToNoiseDb(reference, samples, lag)));
}

function alignedSignalToNoiseDb(reference: Int16Array, samples: Int16Array, lag: number): number {
  let signal = 0;
  let noise = 0;
  const end = Math.min(reference.length, samples.length - lag);
  for (let i = Math.max(0, -lag); i < end; i++) {
    signal += reference[i]! ** 2;
    noise += (reference[i]! - samples[i + lag]!) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}

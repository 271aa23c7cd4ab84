/** Silero's real weights: noise starts no recognizer, and of speech in noise the recognizer gets every word. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { noise } from '../../support/noise.ts';
import { describeWith, run } from '../../support/programs.ts';
import { sileroWeights } from '../../support/silero.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { decoded, wordsIn } from '../espeak/support.ts';
import { rate, recordingOf, startDetecting } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const seconds = 10;

const white = (i: number): number => whiteNoise.readInt16LE(2 * i) / 32_768;
const whiteNoise = noise(2 * seconds * rate);

/** By Paul Kellet's filter. */
function pinkNoise(): Float64Array {
  const poles = [0.998_86, 0.993_32, 0.969, 0.866_5, 0.55, -0.761_6];
  const gains = [0.055_52, 0.075_08, 0.153_85, 0.310_49, 0.532_95, -0.016_9];
  const states = poles.map(() => 0);
  return Float64Array.from({ length: seconds * rate }, (_, i) => {
    poles.forEach((pole, k) => (states[k] = pole * states[k]! + gains[k]! * white(i)));
    return 0.2 * states.reduce((sum, state) => sum + state, 0.54 * white(i));
  });
}
const pink = pinkNoise();

const hum = (i: number): number =>
  [50, 150, 250].reduce((sum, hz, k) => sum + Math.sin((2 * Math.PI * hz * i) / rate) / (2 * 2 ** k), 0);

/** From -1 to 1. */
const noises = { white, pink: (i: number) => pink[i]!, hum, silence: () => 0 } as const;
type Noise = keyof typeof noises;

const clip = (value: number): number => Math.round(32_767 * Math.max(-1, Math.min(1, value)));

/** Ten seconds; the speech begins in the fourth one. */
function recording(kind: Noise, loudness: number, speech: Int16Array = new Int16Array()): Buffer {
  const from = 3 * rate;
  const samples = Int16Array.from({ length: seconds * rate }, (_, i) => clip(loudness * noises[kind](i) + (speech[i - from] ?? 0) / 32_768)); // prettier-ignore
  return recordingOf(samples);
}

describeWith(['espeak-ng', 'ffmpeg', 'pocketsphinx_continuous'], 'the detector', (programs) => {
  let weights: string;
  beforeAll(async () => {
    weights = await sileroWeights();
  });

  /** The recognizer writes down what it gets, and transcribes nothing. */
  async function startRecorder() {
    const directory = await temporaryDirectory();
    const [kept, program] = [join(directory, 'kept'), join(directory, 'recorder')];
    await mkdir(kept);
    await writeFile(program, recorder(kept), { mode: 0o755 });
    const { transcribe } = await startDetecting({ weights, program: '', options: { program } });
    return async (sent: Buffer): Promise<readonly Buffer[]> => {
      const before = (await readdir(kept)).length;
      expect(await transcribe(sent)).toMatchObject({ status: 200, text: '', duration_ms: 1_000 * seconds });
      const names = (await readdir(kept)).toSorted().slice(before);
      return Promise.all(names.map((name) => readFile(join(kept, name))));
    };
  }

  const espeak = async (text: string): Promise<Int16Array> => {
    const path = join(await temporaryDirectory(), 'speech.wav');
    await run(programs['espeak-ng'], ['-v', 'en', '-w', path, '--', text]);
    return decoded(await readFile(path), async (at) => {
      const bytes = await readFile(at);
      const data = bytes.indexOf('data') + 8;
      return Int16Array.from({ length: (bytes.length - data) >> 1 }, (_, i) => bytes.readInt16LE(data + 2 * i));
    });
  };

  it('finds no speech in noise and silence, and starts no recognizer', async () => {
    const recordFrom = await startRecorder();
    for (const kind of Object.keys(noises) as Noise[]) {
      for (const loudness of [0.02, 0.3]) expect(await recordFrom(recording(kind, loudness)), kind).toEqual([]);
    }
  });

  it('keeps every word that is spoken in noise', async () => {
    const recordFrom = await startRecorder();
    for (const text of ['yes, no, hello, stop.', 'thank you', 'no']) {
      const speech = await espeak(text);
      for (const kind of Object.keys(noises) as Noise[]) {
        const sent = recording(kind, 0.05, speech);
        const [piece, ...others] = await recordFrom(sent);
        expect(others, `${text}, ${kind}`).toEqual([]);
        const [from, to] = placeOf(piece ?? Buffer.alloc(0), sent);
        const [first, last] = placeOfLoud(speech);
        expect(from, `${text}, ${kind}`).toBeLessThanOrEqual(first - 0.1);
        expect(to, `${text}, ${kind}`).toBeGreaterThanOrEqual(last);
        expect(to - from, `${text}, ${kind}`).toBeLessThan(last - first + 1.5);
      }
    }
  });

  it('keeps words so that they are understood', async () => {
    const recordFrom = await startRecorder();
    const speech = await espeak('yes, no, hello, stop.');
    for (const kind of ['white', 'pink'] as const) {
      const [piece] = await recordFrom(recording(kind, 0.003, speech)); // pocketsphinx mishears in more
      expect(await wordsIn(piece!), kind).toBe('yes no hello stop');
    }
  });
});

const headerBytes = 44;

/** Where the samples of a piece are in a recording, in seconds. */
function placeOf(piece: Buffer, whole: Buffer): [from: number, to: number] {
  const from = (whole.indexOf(piece.subarray(headerBytes)) - headerBytes) / (2 * rate);
  return [from, from + (piece.length - headerBytes) / (2 * rate)];
}

/** Where the speech is loud, in seconds of the recording. */
function placeOfLoud(speech: Int16Array): [first: number, last: number] {
  const isLoud = (sample: number) => Math.abs(sample) > 1_000;
  return [3 + speech.findIndex(isLoud) / rate, 3 + speech.findLastIndex(isLoud) / rate];
}

const recorder = (kept: string): string => `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
  -f) cp "$2" "${kept}/$(date +%s%N).wav" ;;
  -of) echo '{"result":{"language":"en"},"transcription":[]}' > "$2.json" ;;
  esac
  shift
done
`;

/** Rooms with noise, and Silero's real weights: noise opens no turn and holds none. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { TranscriptionEngine } from '../../engines/contract/index.ts';
import { toSamples16 } from '../../lib/samples.ts';
import { readWav } from '../../lib/wav.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { startDetecting } from '../engines/voice-activity/support.ts';
import { describeWith, run } from '../support/programs.ts';
import { sileroWeights } from '../support/silero.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { mix, noises, rate, speechMs, type Noise } from './noises.ts';
import { openSpeech, told, usual } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const options = { ...usual, format: { encoding: 'pcm', rate } } as const;
const kinds = Object.keys(noises) as Noise[];

describeWith(['espeak-ng'], 'with the detector', (programs) => {
  async function speak(): Promise<Int16Array> {
    const path = join(await temporaryDirectory(), 'speech.wav');
    await run(programs['espeak-ng'], ['-v', 'en', '-w', path, '--', 'The meeting begins at nine.']);
    const wav = await readWav(createReadStream(path));
    const resampler = new Resampler(wav!.sampleRate, rate);
    const blocks: number[] = [];
    for await (const block of wav!.samples) {
      blocks.push(...toSamples16(resampler.push(Float32Array.from(block, (sample) => sample / 65_536))));
    }
    return Int16Array.from(blocks);
  }

  /** The turns that begin and end in the sound, by whisper-cli's detector. It is not hurried: the machine may be busy. */
  async function openDetector() {
    const { service } = await startDetecting({ weights: await sileroWeights(), program: '/nowhere' });
    const [model] = service.service.registry.of('transcription').all;
    const engine: TranscriptionEngine = model!.engine;
    const { signal } = new AbortController();
    return async (sound: Buffer) => {
      const findSpeech = (path: string, ms: number) => engine.findSpeech!(path, ms, { signal });
      const { speech, events, workspace } = await openSpeech({ findSpeech }, { options });
      await speech.append(sound);
      await speech.end();
      workspace[Symbol.dispose]();
      return told(events).filter((event) => /started|stopped/.test(event));
    };
  }

  it('noise opens no turn', async () => {
    const turnsIn = await openDetector();
    for (const kind of kinds) expect(await turnsIn(mix(kind, 0.1)), kind).toEqual([]);
    for (const kind of ['fan', 'music', 'keyboard'] as const) expect(await turnsIn(mix(kind, 0.3)), kind).toEqual([]);
  });

  it('speech in noise is one turn, which ends with the speech', async () => {
    const [turnsIn, speech] = [await openDetector(), await speak()];
    for (const kind of kinds) {
      for (const loudness of kind === 'keyboard' || kind === 'clicks' ? [0.02, 0.1, 0.3] : [0.02]) {
        const turns = await turnsIn(mix(kind, loudness, speech));
        const [started, stopped] = turns.map((turn) => Number(turn.split(' ')[2]));
        expect(turns, kind).toHaveLength(2);
        expect(started, kind).toBeGreaterThanOrEqual(speechMs - 600);
        expect(started, kind).toBeLessThan(speechMs + 300);
        expect(stopped, kind).toBeLessThan(speechMs + speech.length / 16 + 1_000);
      }
    }
  });
});

/** Voice activity detection in a recording: processor time and memory of the detector, with Silero's real weights. */
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { weightsPath } from '../engines/lib/voice-activity/weights.ts';
import { install } from '../test/engines/voice-activity/support.ts';
import { spawnService, type ChildService } from '../test/support/child-service.ts';
import { processesWith } from '../test/support/processes.ts';
import { requireProgram, run } from '../test/support/programs.ts';
import { sileroWeights } from '../test/support/silero.ts';
import { writeToneModel } from '../test/support/tone-model.ts';
import { mean, processorMsOf } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

/** Goal of issue 26: at most 0.02 seconds of processor time per second of audio. */
const goalMs = 20;

export async function benchVoiceActivity({ rounds }: BenchOptions): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const [model, program, speech] = ['tones.bin', 'recognizer', 'speech.wav'].map((name) => join(directory.path, name));
  await writeToneModel(model!);
  await writeFile(program!, deafRecognizer, { mode: 0o755 });
  const sentence = 'The quick brown fox jumps over the lazy dog. ';
  await run(requireProgram('espeak-ng'), ['-w', speech!, '--', sentence.repeat(40)]);
  const local = { use: 'whisper-cli', program, models: [{ id: 'tones', file: model }] };
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn' };
  await using service = await spawnService({ env, config: JSON.stringify({ engines: { local } }) });
  await install(weightsPath(service.dataDir), await sileroWeights());
  const recording = await readFile(speech!);
  const seconds = (await transcribe(service, recording)) / 1000;
  const [detector] = processesWith(weightsPath(service.dataDir)).map(Number);

  const perSecond: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = processorMsOf(detector!);
    await transcribe(service, recording);
    perSecond.push((processorMsOf(detector!) - before) / seconds);
  }
  return [
    {
      what: `where is speech in ${Math.round(seconds)} s of speech, processor time for a second of sound (mean)`,
      measured: milliseconds(mean(perSecond)),
      against: `${milliseconds(goalMs)} goal`,
      ratio: mean(perSecond) / goalMs,
      goal: { atMost: 1 },
    },
  ];
}

/** Returns the length of the recording in milliseconds. */
async function transcribe({ url }: ChildService, recording: Uint8Array): Promise<number> {
  const body = new FormData();
  body.set('file', new File([new Uint8Array(recording)], 'speech.wav'));
  const answer = await fetch(`${url}/api/v1/transcribe`, { method: 'POST', body });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { duration_ms: number }).duration_ms;
}

/** Replaces whisper-cli, whose time is not measured here. */
const deafRecognizer = `#!/bin/sh
while [ "$1" != -of ]; do shift; done
echo '{"result":{"language":"en"},"transcription":[]}' > "$2.json"
`;

if (import.meta.main) await runBenchmarks([benchVoiceActivity]);

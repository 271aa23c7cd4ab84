/** Speech with a Piper voice: processor time and memory, with random weights in the shape of medium quality. */
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sentenceOf } from '../test/engines/sherpa-voice/support.ts';
import { spawnService, type ChildService } from '../test/support/child-service.ts';
import { processes } from '../test/support/proc.ts';
import { secondsOf } from '../test/support/tone-listener.ts';
import { writeVoice } from '../test/support/voice-model.ts';
import { mean, processorMsOfFamily } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, milliseconds, runBenchmarks, type Row } from './support/table.ts';

/** One second of audio has ten letters. */
const lettersPerSecond = 10;
const manySentences = 100;
/** The memory that engines/sherpa-voice/hosts.ts declares. */
const declaredBytes = 535e6;

export async function benchVoice({ rounds }: BenchOptions): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const file = await writeVoice(directory.path, 'voice', { kind: 'piper', isPlain: true, isMedium: true });
  const engines = { voice: { use: 'sherpa-voice', voices: [{ id: 'voice', file }] } };
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn' };
  await using service = await spawnService({ env, config: JSON.stringify({ engines }) });
  await speak(service, 'yes', 'wav');

  const first: number[] = [];
  const perSecond: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { firstMs } = await speak(service, sentenceOf(3 * lettersPerSecond, round), 'mp3');
    first.push(firstMs);
    const { lastMs, sound } = await speak(service, sentenceOf(10 * lettersPerSecond, round), 'wav');
    perSecond.push(lastMs / secondsOf(sound));
  }
  for (let n = 0; n < manySentences; n++) await speak(service, sentenceOf(10 + ((n * 37) % 110), n), 'wav');
  const peak = peakBytesOf(service);
  const row = (what: string, measured: number, goal: number): Row => {
    return {
      what,
      measured: milliseconds(measured),
      against: `${milliseconds(goal)} goal`,
      ratio: measured / goal,
      goal: { atMost: 1 },
    };
  };
  return [
    row('a sentence of 3 s by a Piper voice, processor time to the first byte (mean)', mean(first), 700),
    row('  processor time for a second of sound (mean)', mean(perSecond), 200),
    {
      what: `  memory of the program after ${manySentences} sentences of 1 to 12 s`,
      measured: megabytes(peak),
      against: `${megabytes(declaredBytes)} declared`,
      ratio: peak / declaredBytes,
    },
  ];
}

interface Spoken {
  /** Processor time until the first byte and until the last. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sound: Buffer;
}

async function speak({ url, pid }: ChildService, text: string, format: string): Promise<Spoken> {
  const before = processorMsOfFamily(pid);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text, format });
  const answer = await fetch(`${url}/api/v1/tts`, { method: 'POST', headers, body });
  if (answer.status !== 200 || !answer.body) throw new Error(`${answer.status}: ${await answer.text()}`);
  let firstMs: number | undefined;
  const stream = answer.body as AsyncIterable<Uint8Array>;
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    firstMs ??= processorMsOfFamily(pid) - before;
    chunks.push(chunk);
  }
  return { firstMs: firstMs ?? 0, lastMs: processorMsOfFamily(pid) - before, sound: Buffer.concat(chunks) };
}

function peakBytesOf({ pid }: ChildService): number {
  const [host] = processes().filter(({ parent }) => parent === pid);
  if (!host) throw new Error('the voice is not loaded');
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${host.pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

if (import.meta.main) await runBenchmarks([benchVoice]);

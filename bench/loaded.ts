/**
 * Recordings of two seconds with a loaded model, compared with the same program without the service, and with
 * whisper-cli.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { spinLimit } from '../engines/whisper-cli/whisper-call.ts';
import { writeParrotModel } from './support/parrot-model.ts';
import { requireProgram } from '../test/support/programs.ts';
import { toneWav } from '../test/support/tone-model.ts';
import { assertSaid } from './support/clip.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { startBenchService, transcribe } from './support/service.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

/** Number of services that are started. */
const firsts = 3;

export async function benchLoaded({ model, rounds, slots, threads }: BenchOptions): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const [modelFile, wavPath] = [join(directory.path, 'model.bin'), join(directory.path, 'two.wav')];
  await writeParrotModel(modelFile, { size: model });
  const wav = toneWav({ words: ['alpha', 'bravo', 'charlie'], rate: 16_000, tailSeconds: 0 });
  await writeFile(wavPath, wav);
  const recording = new Blob([new Uint8Array(wav)]);
  const work = { modelFile, wavPath, endMs: Math.ceil((wav.length - 44) / 32), threads };
  const start = () => startBenchService({ modelFile, slots, threads });

  const first: number[] = [];
  for (let n = 0; n < firsts; n++) {
    await using service = await start();
    first.push(await timed(async () => assertSaid((await transcribe(service, recording)).text)));
  }
  await using service = await start();
  using host = await startHost(work);
  const { ours, loaded, cli } = await interleave(
    {
      ours: () => timed(async () => assertSaid((await transcribe(service, recording)).text)),
      loaded: () => timed(async () => assertSaid(await host.transcribe())),
      cli: () => timed(async () => assertSaid(await runWhisperCli(work, join(directory.path, 'out')))),
    },
    rounds,
  );
  const row = (what: string, measured: number, against: number, by: string, atMost: number): Row => ({
    what,
    measured: milliseconds(measured),
    against: `${milliseconds(against)} ${by}`,
    ratio: measured / against,
    goal: { atMost },
  });
  const [bare, byHand] = [median(loaded), median(cli)];
  return [
    row('POST /transcribe, 2 s of wav, loaded model', median(ours), bare, 'the bare loaded program', 1.05),
    row('  against whisper-cli', median(ours), byHand, 'whisper-cli', 0.95),
    row('  the first, which loads the model', median(first), byHand, 'whisper-cli', 1.2),
  ];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

interface Work {
  readonly modelFile: string;
  readonly wavPath: string;
  readonly endMs: number;
  readonly threads: number;
}

async function startHost({ modelFile, wavPath, endMs, threads }: Work) {
  const child = spawn(requireProgram('whisper-host'), [modelFile], {
    env: { ...process.env, ...spinLimit },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line'); // the program is ready
  return {
    async transcribe(): Promise<string> {
      let text = '';
      const done = Promise.withResolvers<undefined>();
      const listen = (line: string) => {
        text += line;
        if (line.includes('"done"')) done.resolve(undefined);
      };
      lines.on('line', listen);
      child.stdin.write(`${JSON.stringify({ id: 1, wavPath, startMs: 0, endMs, language: 'en', threads })}\n`);
      await done.promise;
      lines.off('line', listen);
      return text;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

async function runWhisperCli({ modelFile, wavPath, threads }: Work, output: string): Promise<string> {
  const args = ['-np', '-m', modelFile, '-l', 'en', '-t', String(threads), '-oj', '-of', output, '-f', wavPath];
  const env = { ...process.env, ...spinLimit };
  return (await promisify(execFile)(requireProgram('whisper-cli'), args, { env })).stdout;
}

if (import.meta.main) await runBenchmarks([benchLoaded]);

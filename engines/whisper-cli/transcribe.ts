import { join } from 'node:path';
import { EngineError, type EngineContext, type Recording, type Transcript } from '../contract/index.ts';
import { readTranscript } from './output.ts';

export interface TranscribeJob {
  readonly program: string;
  readonly modelFile: string;
  /** Silero VAD model (ggml), where one is configured. */
  readonly vadFile: string | undefined;
  /** Whisper's name of the language, or `auto`. */
  readonly language: string;
  readonly threads: number;
  readonly recording: Recording;
}

/** Its threads wait for each other by spinning: on a busy machine that takes the cores from whoever has work (OpenMP). */
const patientThreads = { GOMP_SPINCOUNT: '10000' };

/** One window of Whisper's spectrogram; on less sound than that whisper-cli crashes. */
const shortestMs = 25;

/** The caller's signal carries the deadline; this bound only catches a program that outlives every caller. */
const hardLimitMs = 24 * 3_600_000;

/** Decodes the recording and lets whisper-cli hear it: it gets nothing but the WAV file that we wrote. */
export async function transcribe(
  job: TranscribeJob,
  context: EngineContext,
  { signal }: { signal: AbortSignal },
): Promise<Transcript> {
  const { wavPath, durationMs } = await context.decode(job.recording, { signal });
  if (durationMs < shortestMs) return { text: '', language: null, durationMs };
  // A private working directory: builds with dynamic backends load libraries from where they run.
  await using directory = await context.temporaryDirectory();
  const output = join(directory.path, 'out');
  const exit = await context.run(job.program, whisperArguments(job, wavPath, output), {
    signal,
    timeoutMs: hardLimitMs,
    cwd: directory.path,
    env: patientThreads,
  });
  const said = `${exit.stdout}\n${exit.stderr}`;
  if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    const cause = new Error(`whisper-cli ended with ${how}; it said: ${said.trim().slice(-2000)}`);
    throw new EngineError('engine-failed', 'The transcription program failed.', { cause });
  }
  return { ...(await readTranscript(`${output}.json`, said)), durationMs };
}

function whisperArguments(job: TranscribeJob, wavPath: string, output: string): string[] {
  const vad = job.vadFile === undefined ? [] : ['--vad', '-vm', job.vadFile];
  return [
    ...['-np', '-m', job.modelFile, '-l', job.language, '-t', String(job.threads), ...vad],
    ...['-oj', '-of', output, '-f', wavPath],
  ];
}

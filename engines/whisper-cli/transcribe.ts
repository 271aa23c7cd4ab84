import { join } from 'node:path';
import { EngineError, type EngineContext, type Recording, type Transcript } from '../contract/index.ts';
import { readTranscript } from './output.ts';

export interface TranscribeJob {
  readonly program: string;
  readonly modelFile: string;
  /** Silero VAD model (ggml), if configured. */
  readonly vadFile: string | undefined;
  /** Whisper's language code, or `auto`. */
  readonly language: string;
  readonly threads: number;
  readonly recording: Recording;
}

/** Limits OpenMP spin-waiting, so that idle threads do not starve other processes. */
const spinLimit = { GOMP_SPINCOUNT: '10000' };

/** One window of Whisper's spectrogram; whisper-cli crashes on shorter recordings. */
const shortestMs = 25;

/** Safety net only: the caller's signal carries the real timeout. */
const hardLimitMs = 24 * 3_600_000;

/** Decodes the recording and runs whisper-cli on the WAV file that we wrote. */
export async function transcribe(
  job: TranscribeJob,
  context: EngineContext,
  { signal }: { signal: AbortSignal },
): Promise<Transcript> {
  const { wavPath, durationMs } = await context.decode(job.recording, { signal });
  if (durationMs < shortestMs) return { text: '', language: null, durationMs };
  // A private working directory: builds with dynamic backends load libraries from the working directory.
  await using directory = await context.temporaryDirectory();
  const output = join(directory.path, 'out');
  const exit = await context.run(job.program, whisperArguments(job, wavPath, output), {
    signal,
    timeoutMs: hardLimitMs,
    cwd: directory.path,
    env: spinLimit,
  });
  const log = `${exit.stdout}\n${exit.stderr}`;
  if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    const cause = new Error(`whisper-cli ended with ${how}; output: ${log.trim().slice(-2000)}`);
    throw new EngineError('engine-failed', 'The transcription program failed.', { cause });
  }
  return { ...(await readTranscript(`${output}.json`, log)), durationMs };
}

function whisperArguments(job: TranscribeJob, wavPath: string, output: string): string[] {
  const vad = job.vadFile === undefined ? [] : ['--vad', '-vm', job.vadFile];
  return [
    ...['-np', '-m', job.modelFile, '-l', job.language, '-t', String(job.threads), ...vad],
    ...['-oj', '-of', output, '-f', wavPath],
  ];
}

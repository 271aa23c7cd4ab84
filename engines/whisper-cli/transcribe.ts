import { join } from 'node:path';
import {
  EngineError,
  type EngineContext,
  type Recording,
  type TimestampKind,
  type Transcript,
  type TranscriptionOptions,
} from '../contract/index.ts';
import { readTranscript, toTranscript, type Wanted } from './output.ts';
import { clamp, createTimeline, readSegmentLine } from './segments.ts';

export interface TranscribeJob {
  readonly program: string;
  readonly modelFile: string;
  /** Silero VAD model (ggml), if configured. */
  readonly vadFile: string | undefined;
  /** Whisper's language code, or `auto`. */
  readonly language: string;
  readonly threads: number;
  readonly recording: Recording;
  readonly prompt?: string | undefined;
  readonly temperature?: number | undefined;
  readonly timestamps?: readonly TimestampKind[] | undefined;
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
  { signal, ...callbacks }: TranscriptionOptions,
): Promise<Transcript> {
  const { wavPath, durationMs } = await context.decode(job.recording, { signal });
  const wanted = { durationMs, timestamps: job.timestamps ?? [] };
  if (durationMs < shortestMs) return silence(wanted);
  // A private working directory: builds with dynamic backends load libraries from the working directory.
  await using directory = await context.temporaryDirectory();
  const output = join(directory.path, 'out');
  const exit = await context.run(job.program, whisperArguments(job, wavPath, output), {
    signal,
    timeoutMs: hardLimitMs,
    cwd: directory.path,
    env: spinLimit,
    ...(hasAny(callbacks) && { onLine: createLineReader(durationMs, callbacks) }),
  });
  const log = exit.stderr; // stdout has the text of the recording
  if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    const cause = new Error(`whisper-cli ended with ${how}; output: ${log.trim().slice(-2000)}`);
    throw new EngineError('engine-failed', 'The transcription program failed.', { cause });
  }
  return await readTranscript(`${output}.json`, log, wanted);
}

const silence = (wanted: Wanted): Transcript => toTranscript({ result: {}, transcription: [] }, wanted);

type Callbacks = Omit<TranscriptionOptions, 'signal'>;

const hasAny = ({ onSegment, onProgress }: Callbacks): boolean => onSegment !== undefined || onProgress !== undefined;

/** whisper-cli prints each segment as soon as it is done, also with `-np`, and flushes stdout after it. */
function createLineReader(durationMs: number, { onSegment, onProgress }: Callbacks): (line: string) => void {
  const place = createTimeline(durationMs);
  let processedMs = 0;
  return (line) => {
    const raw = readSegmentLine(line);
    if (raw === undefined) return;
    const segment = place(raw);
    if (segment !== undefined) onSegment?.(segment);
    processedMs = clamp(raw.to, processedMs, durationMs);
    onProgress?.(processedMs, durationMs);
  };
}

function whisperArguments(job: TranscribeJob, wavPath: string, output: string): string[] {
  const { vadFile, prompt = '', temperature, timestamps = [] } = job;
  const vad = vadFile === undefined ? [] : ['--vad', '-vm', vadFile];
  const sampling = temperature === undefined ? [] : ['-tp', String(temperature)];
  // -ojf adds the tokens, whose times cost extra work.
  const json = timestamps.includes('word') ? '-ojf' : '-oj';
  return [
    ...['-np', '-m', job.modelFile, '-l', job.language, '-t', String(job.threads), ...vad, ...sampling],
    ...[json, '-of', output, '-f', wavPath],
    // Last: the usage, which whisper-cli prints for an unknown option, repeats what it has read so far.
    ...(prompt === '' ? [] : ['--prompt', promptArgument(prompt)]),
  ];
}

/**
 * In characters. whisper.cpp uses the last 224 tokens only, and its tokenizer overflows the stack on a long word (1.9.1:
 * seen at 32,000 bytes, not at 20,000).
 */
const maxPromptLength = 2_000;

/** An argument cannot contain NUL. */
function promptArgument(prompt: string): string {
  return Array.from(prompt.replaceAll('\0', ' ')).slice(-maxPromptLength).join('');
}

/** Transcribes one recording with whisper-cli, which loads the model each time. */
import { join } from 'node:path';
import { EngineError, type EngineContext } from '../contract/index.ts';
import { lastLine } from '../../lib/text.ts';
import { toFile } from '../../lib/wav.ts';
import { type RawTranscript, readSegmentLine, readTranscript } from './transcript.ts';
import { hardLimitMs, spinLimit, type WhisperCall, type WhisperOptions } from './whisper-call.ts';

export async function runWhisperCli(
  call: WhisperCall,
  context: EngineContext,
  { signal, onRaw }: WhisperOptions,
): Promise<RawTranscript> {
  // The working directory is private, because builds with dynamic backends load libraries from it.
  await using directory = await context.temporaryDirectory();
  const output = join(directory.path, 'out');
  const { path: file } = await toFile(call.audio, join(directory.path, 'audio.wav'), signal);
  const exit = await context.run(call.program, argumentsOf(call, file, output), {
    signal,
    timeoutMs: hardLimitMs,
    cwd: directory.path,
    env: spinLimit,
    ...(onRaw && {
      // whisper-cli prints and flushes each segment as soon as it is complete, even with `-np`.
      onLine(line: string) {
        const raw = readSegmentLine(line);
        if (raw) onRaw(raw);
      },
    }),
  });
  const log = exit.stderr; // stdout contains the transcript
  if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    const cause = new Error(`whisper-cli ended with ${how}; output: ${lastLine(log)}`);
    throw new EngineError('engine-failed', 'The transcription program failed.', { cause });
  }
  return await readTranscript(`${output}.json`, log, call.requested);
}

function argumentsOf(
  { vadFile, prompt = '', carriesPrompt, translate, temperature, audioContext, ...call }: WhisperCall,
  file: string,
  output: string,
): string[] {
  const vad = vadFile === undefined ? [] : ['--vad', '-vm', vadFile];
  const sampling = temperature === undefined ? [] : ['-tp', String(temperature)];
  const context = audioContext === undefined ? [] : ['-ac', String(audioContext)];
  // -ojf adds the tokens, whose times cost extra work.
  const json = call.requested.timestamps.includes('word') ? '-ojf' : '-oj';
  return [
    ...['-np', '-m', call.modelFile, '-l', call.language, '-t', String(call.threads), ...vad, ...sampling, ...context],
    ...[json, '-of', output, '-f', file, ...(translate ? ['-tr'] : [])],
    // The prompt comes last: the usage message for an unknown option repeats the arguments before it.
    ...(prompt === '' ? [] : [...(carriesPrompt ? ['--carry-initial-prompt'] : []), '--prompt', prompt]),
  ];
}

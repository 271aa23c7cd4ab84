/** One recording with whisper-cli, which loads the model for it. */
import { join } from 'node:path';
import { EngineError, type EngineContext } from '../contract/index.ts';
import { lastLine } from '../../lib/text.ts';
import { toFile } from '../../lib/wav.ts';
import { type Heard, readSegmentLine, readTranscript } from './transcript.ts';
import { hardLimitMs, spinLimit, type WhisperCall, type WhisperOptions } from './whisper-call.ts';

export async function runWhisperCli(
  call: WhisperCall,
  context: EngineContext,
  { signal, onRaw }: WhisperOptions,
): Promise<Heard> {
  // A private working directory: builds with dynamic backends load libraries from the working directory.
  await using directory = await context.temporaryDirectory();
  const output = join(directory.path, 'out');
  const { path: file } = await toFile(call.sound, join(directory.path, 'sound.wav'), signal);
  const exit = await context.run(call.program, argumentsOf(call, file, output), {
    signal,
    timeoutMs: hardLimitMs,
    cwd: directory.path,
    env: spinLimit,
    ...(onRaw && {
      // It prints each segment as soon as it is done, also with `-np`, and flushes stdout after it.
      onLine(line: string) {
        const raw = readSegmentLine(line);
        if (raw) onRaw(raw);
      },
    }),
  });
  const log = exit.stderr; // stdout has the text of the recording
  if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    const cause = new Error(`whisper-cli ended with ${how}; output: ${lastLine(log)}`);
    throw new EngineError('engine-failed', 'The transcription program failed.', { cause });
  }
  return await readTranscript(`${output}.json`, log, call.wanted);
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
  const json = call.wanted.timestamps.includes('word') ? '-ojf' : '-oj';
  return [
    ...['-np', '-m', call.modelFile, '-l', call.language, '-t', String(call.threads), ...vad, ...sampling, ...context],
    ...[json, '-of', output, '-f', file, ...(translate ? ['-tr'] : [])],
    // Last: the usage, which whisper-cli prints for an unknown option, repeats what it has read so far.
    ...(prompt === '' ? [] : [...(carriesPrompt ? ['--carry-initial-prompt'] : []), '--prompt', prompt]),
  ];
}

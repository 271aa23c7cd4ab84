/** The work of a transcription without the service: two programs and a file between them. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EngineContext, Recording } from '../../engines/contract/index.ts';
import { transcribe } from '../../engines/whisper-cli/transcribe.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { ffmpegArguments } from '../../src/audio/ffmpeg/arguments.ts';
import { requireProgram } from '../../test/support/programs.ts';

export interface HandWork {
  readonly clip: string;
  readonly modelFile: string;
  readonly threads: number;
  /** Path of the intermediate file, which must not exist yet. */
  readonly directory: string;
}

/** Returns a function that transcribes the clip and returns the text of whisper-cli's JSON. */
export async function prepareByHand(work: HandWork): Promise<(signal?: AbortSignal) => Promise<string>> {
  await mkdir(work.directory);
  const [wavPath, output] = [join(work.directory, 'decoded.wav'), join(work.directory, 'out')];
  const decodeFlags = flagsOfFfmpeg(work);
  const hearFlags = await flagsOfWhisper(work, { wavPath, output });
  const [ffmpeg, whisper, run] = [requireProgram('ffmpeg'), requireProgram('whisper-cli'), promisify(execFile)];
  return async (signal) => {
    await run(ffmpeg, [...decodeFlags, '-f', 'wav', '-y', wavPath], { signal });
    await run(whisper, hearFlags, { signal });
    return readFile(`${output}.json`, 'utf8');
  };
}

/** The arguments that the service's decoder passes to ffmpeg. A user would mix the channels with ffmpeg alone. */
function flagsOfFfmpeg({ clip }: HandWork): string[] {
  const output = ['-ac', '1', '-ar', String(sampleRate), '-c:a', 'pcm_s16le'];
  return ffmpegArguments({ path: clip, container: 'webm' }, undefined, output);
}

/** The arguments that the engine passes to whisper-cli. Its context runs nothing and records them. */
async function flagsOfWhisper(
  { modelFile, threads }: HandWork,
  { wavPath, output }: { readonly wavPath: string; readonly output: string },
): Promise<string[]> {
  const seen: string[] = [];
  await writeFile(wavPath, wavHeader(0));
  const context: Pick<EngineContext, 'decode' | 'temporaryDirectory' | 'run'> = {
    decode: () => Promise.resolve({ wavPath, startMs: 0, endMs: 10_000 }),
    temporaryDirectory: () =>
      Promise.resolve({ path: join(output, '..'), [Symbol.asyncDispose]: () => Promise.resolve() }),
    run: (_program, args) => {
      seen.push(...args);
      return Promise.reject(new Error('nothing is run here'));
    },
  };
  const job = {
    program: 'whisper-cli',
    modelFile,
    vadFile: undefined,
    hostProgram: undefined,
    language: 'en',
    threads,
    fitContext: false,
  };
  const call = { signal: new AbortController().signal };
  await transcribe({ ...job, free: () => undefined, recording: {} as Recording }, context as EngineContext, call).catch(
    () => undefined,
  );
  if (seen.at(-1) !== wavPath) throw new Error('the engine runs no program any more');
  return seen;
}

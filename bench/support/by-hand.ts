/** The work of a transcription without the service: two programs and a file between them. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EngineContext, Recording } from '../../engines/contract/index.ts';
import { transcribe } from '../../engines/whisper-cli/transcribe.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { decodeWithFfmpeg, mixFilters } from '../../src/audio/ffmpeg.ts';
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
  const decodeFlags = await flagsOfFfmpeg(work);
  const hearFlags = await flagsOfWhisper(work, { wavPath, output });
  const [ffmpeg, whisper, run] = [requireProgram('ffmpeg'), requireProgram('whisper-cli'), promisify(execFile)];
  return async (signal) => {
    await run(ffmpeg, [...decodeFlags, '-f', 'wav', '-y', wavPath], { signal });
    await run(whisper, hearFlags, { signal });
    return readFile(`${output}.json`, 'utf8');
  };
}

const sayFlags = join(import.meta.dirname, 'say-flags.sh');

/**
 * The arguments that the service's decoder passes to ffmpeg, except those of the output, which are replaced. A user
 * would mix the channels with ffmpeg alone.
 */
async function flagsOfFfmpeg({ clip, directory }: HandWork): Promise<string[]> {
  const wavPath = join(directory, 'flags.wav');
  const job = { path: clip, container: 'webm', wavPath, maxSeconds: 3600 } as const;
  await decodeWithFfmpeg(sayFlags, job, { signal: new AbortController().signal });
  const flags = (await readFile(wavPath, 'utf8')).slice(44).trim().split(' ');
  const toPipe = ['-af', mixFilters, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'];
  if (flags.splice(-toPipe.length).join() !== toPipe.join()) throw new Error('the decoder writes to no pipe any more');
  return [...flags, '-ac', '1', '-ar', String(sampleRate), '-c:a', 'pcm_s16le'];
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
    translate: false,
  };
  const call = { signal: new AbortController().signal };
  await transcribe({ ...job, free: () => undefined, recording: {} as Recording }, context as EngineContext, call).catch(
    () => undefined,
  );
  if (seen.at(-1) !== wavPath) throw new Error('the engine runs no program any more');
  return seen;
}

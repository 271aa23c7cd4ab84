import { join } from 'node:path';
import type { EngineContext, Logger } from '../contract/index.ts';
import { buildWhisperCli } from './build.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { catalogue, maxModelBytes, modelFileName, modelUrl, type ModelName } from './catalogue.ts';
import { download } from './download.ts';
import { inspectModelFile } from './model-file.ts';

export interface Preparation {
  readonly dataDir: string;
  /** Whether whisper-cli has to be built, because none was found. */
  readonly needProgram: boolean;
  /** The model to have in the data directory, or null for none. */
  readonly model: ModelName | null;
  /** Base URL of the place that has the models, `modelSource` or a mirror of it. */
  readonly mirror: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Processor cores that the build may use. */
  readonly cores: number;
  readonly run: EngineContext['run'];
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** `building whisper-cli` and `downloading ggml-NAME.bin`, in turns; the fraction is null while it is not known. */
  readonly progress: (step: string, fraction: number | null) => void;
  readonly log: Logger;
}

/** Where a downloaded model is. */
export function downloadedModelPath(dataDir: string, model: ModelName): string {
  return join(dataDir, 'models', modelFileName(model));
}

/**
 * Builds the program and downloads the model, side by side, each where it is wanted and not there yet. What fails
 * does not stop the other; rejects with one error that tells all that failed, or with the signal's reason.
 */
export async function prepareWhisper(preparation: Preparation): Promise<void> {
  const outcomes = await Promise.allSettled([prepareProgram(preparation), prepareModel(preparation)]);
  preparation.signal.throwIfAborted();
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as Error);
  const [first, second] = failures;
  const messages = [...new Set(failures.map(({ message }) => message))];
  if (second !== undefined) throw new AggregateError(failures, messages.join('\n'));
  if (first !== undefined) throw first;
}

async function prepareProgram(preparation: Preparation): Promise<void> {
  if (!preparation.needProgram) return;
  await makeDataDirectory(preparation.dataDir);
  const progress = (fraction: number) => preparation.progress('building whisper-cli', fraction);
  await buildWhisperCli({ ...preparation, progress });
}

async function makeDataDirectory(path: string): Promise<void> {
  await makeDirectory(path).catch((cause: unknown) => {
    const { message } = cause as Error;
    throw new Error(`the data directory cannot be made: ${message}. Set DATA_DIR to one that can be written`, {
      cause,
    });
  });
}

async function prepareModel({ dataDir, model, mirror, fetch, signal, progress, log }: Preparation): Promise<void> {
  if (model === null) return;
  const to = downloadedModelPath(dataDir, model);
  // Whole but with another digest, it is someone's own file under this name: not ours to replace.
  if (inspectModelFile(to).ok) return;
  await makeDataDirectory(dataDir);
  const url = modelUrl(model, mirror);
  const { sha1 } = catalogue[model];
  const report = (fraction: number | null) => progress(`downloading ${modelFileName(model)}`, fraction);
  report(0);
  try {
    await download({ url, to, sha1, maxBytes: maxModelBytes(model), fetch, signal, progress: report, log });
  } catch (error) {
    signal.throwIfAborted();
    const { message } = error as Error;
    throw new Error(`${message}. Without a network, bring ${url} by hand to ${to}`, { cause: error });
  }
}

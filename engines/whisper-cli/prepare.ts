import { join } from 'node:path';
import type { EngineContext, Logger } from '../contract/index.ts';
import { buildWhisperCli } from './build.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { catalogue, maxModelBytes, modelFileName, modelUrl, type ModelName } from './catalogue.ts';
import { download } from './download.ts';
import { inspectModelFile } from './model-file.ts';

export interface PrepareOptions {
  readonly dataDir: string;
  /** True if whisper-cli was not found and has to be built. */
  readonly needProgram: boolean;
  /** The model to download to the data directory, or null. */
  readonly model: ModelName | null;
  /** Base URL of the models: `modelSource` or a mirror. */
  readonly mirror: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** CPU cores that the build may use. */
  readonly cores: number;
  readonly run: EngineContext['run'];
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** Steps are `building whisper-cli` and `downloading ggml-NAME.bin`, interleaved; null means an unknown fraction. */
  readonly progress: (step: string, fraction: number | null) => void;
  readonly log: Logger;
}

/** Path of a downloaded model. */
export function downloadedModelPath(dataDir: string, model: ModelName): string {
  return join(dataDir, 'models', modelFileName(model));
}

/**
 * Builds the program and downloads the model concurrently, each only if requested and missing. A failure of one does
 * not stop the other; rejects with one error that contains all failures, or with the signal's reason.
 */
export async function prepareWhisper(options: PrepareOptions): Promise<void> {
  const outcomes = await Promise.allSettled([prepareProgram(options), prepareModel(options)]);
  options.signal.throwIfAborted();
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as Error);
  const [first, second] = failures;
  const messages = [...new Set(failures.map(({ message }) => message))];
  if (second !== undefined) throw new AggregateError(failures, messages.join('\n'));
  if (first !== undefined) throw first;
}

async function prepareProgram(options: PrepareOptions): Promise<void> {
  if (!options.needProgram) return;
  await makeDataDirectory(options.dataDir);
  const progress = (fraction: number) => options.progress('building whisper-cli', fraction);
  await buildWhisperCli({ ...options, progress });
}

async function makeDataDirectory(path: string): Promise<void> {
  await makeDirectory(path).catch((cause: unknown) => {
    const { message } = cause as Error;
    throw new Error(`Cannot create the data directory: ${message}. fix: set DATA_DIR to a writable directory`, {
      cause,
    });
  });
}

async function prepareModel({ dataDir, model, mirror, fetch, signal, progress, log }: PrepareOptions): Promise<void> {
  if (model === null) return;
  const to = downloadedModelPath(dataDir, model);
  // A complete model with another digest is the operator's own file under this name: do not replace it.
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
    throw new Error(`${message}. Without a network, copy ${url} to ${to} manually`, { cause: error });
  }
}

import { join } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { buildWhisper, type Program } from './build.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { catalogue, maxModelBytes, modelFileName, modelSource, modelUrl, type ModelName } from './catalogue.ts';
import { download } from '../lib/download/download.ts';
import { noteDownload } from '../lib/download/receipts.ts';
import { inspectModelFile } from './model-file.ts';
import { messageOf } from '../../lib/errors.ts';

/** How much of a step is done: a fraction, or null if unknown, or `waiting` while another process does it, or why it pauses. */
export type Done = number | null | 'waiting' | Interrupted;

export interface Interrupted {
  readonly interrupted: string;
}

export const buildStep = 'building whisper-cli';
export const downloadStep = (model: ModelName): string => `downloading ${modelFileName(model)}`;

export interface PreparationPlan {
  /** The programs to build, in order. */
  readonly programs: readonly Program[];
  /** The models to download to the data directory, one after the other. */
  readonly models: readonly ModelName[];
  /** Base URL of the models, if not `modelSource`. */
  readonly mirror: string | undefined;
}

export interface PrepareOptions
  extends PreparationPlan, Pick<EngineContext, 'dataDir' | 'env' | 'cores' | 'start' | 'fetch' | 'log'> {
  readonly signal: AbortSignal;
  /** Steps are interleaved. */
  readonly progress: (step: string, done: Done) => void;
  /** A step has failed for good; the others go on. */
  readonly failed: (step: string, why: string) => void;
}

/** Path of a downloaded model. */
export function downloadedModelPath(dataDir: string, model: ModelName): string {
  return join(dataDir, 'models', modelFileName(model));
}

type Report = (done: Done) => void;

/**
 * Builds the program and downloads the models concurrently, each only if requested and missing. A failure of one does
 * not stop the others; rejects with one error that contains all failures, or with the signal's reason.
 */
export async function prepareWhisper(options: PrepareOptions): Promise<void> {
  const { programs, models, signal } = options;
  const failures: Error[] = [];

  async function attempt(step: string, run: (report: Report) => Promise<void>): Promise<void> {
    let last: Done | undefined;
    const report = (done: Done) => options.progress(step, (last = done));
    try {
      await run(report);
      if (last === 'waiting') report(1);
    } catch (error) {
      if (signal.aborted) return;
      failures.push(error as Error);
      options.failed(step, messageOf(error));
    }
  }

  async function downloadAll(): Promise<void> {
    for (const model of models) {
      await attempt(downloadStep(model), (report) => prepareModel(model, options, report));
    }
  }

  const build = programs.length > 0 ? attempt(buildStep, (report) => prepareProgram(options, report)) : undefined;
  await Promise.all([build, downloadAll()]);
  signal.throwIfAborted();
  const [first, second] = failures;
  const messages = [...new Set(failures.map(({ message }) => message))];
  if (second !== undefined) throw new AggregateError(failures, messages.join('\n'));
  if (first !== undefined) throw first;
}

async function prepareProgram(options: PrepareOptions, report: Report): Promise<void> {
  await makeDataDirectory(options.dataDir);
  await buildWhisper({ ...options, progress: report, onWait: () => report('waiting') });
}

async function makeDataDirectory(path: string): Promise<void> {
  await makeDirectory(path).catch((cause: unknown) => {
    const why = `Cannot create the data directory: ${messageOf(cause)}`;
    throw new Error(`${why}. fix: set DATA_DIR to a writable directory`, { cause });
  });
}

async function prepareModel(model: ModelName, options: PrepareOptions, report: Report): Promise<void> {
  const { dataDir, mirror = modelSource, fetch, signal, log } = options;
  const to = downloadedModelPath(dataDir, model);
  // A complete model with another digest is the operator's own file under this name: do not replace it.
  if (inspectModelFile(to).ok) return;
  await makeDataDirectory(dataDir);
  report(0);
  const file = { url: modelUrl(model, mirror), to, digest: catalogue[model].sha1, maxBytes: maxModelBytes(model) };
  try {
    const isNew = await download({
      ...{ ...file, fetch, signal, log, progress: report },
      onWait: () => report('waiting'),
      onRetry: (interrupted) => report({ interrupted }),
    });
    if (isNew) await noteDownload(options, to);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${messageOf(error)}. Without a network, copy it to ${to} manually`, { cause: error });
  }
}

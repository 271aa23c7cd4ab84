/** The model files of the settings. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isModelName, type ModelName } from './catalogue.ts';
import { inspectModelFile, type ModelFile } from './model-file.ts';
import type { ModelOptions } from './options.ts';
import { downloadedModelPath } from './prepare.ts';

export interface Model extends ModelOptions {
  /** The model to download to this file; undefined if the file is not at a download path. */
  readonly download: ModelName | undefined;
  /** Inspects the file; cached until the file changes. */
  readonly inspect: () => Promise<ModelFile>;
}

export function toModel(options: ModelOptions, dataDir: string): Model {
  const name = /^ggml-(.+)\.bin$/.exec(basename(options.file))?.[1] ?? '';
  const isDownload = isModelName(name) && options.file === downloadedModelPath(dataDir, name);
  return { ...options, download: isDownload ? name : undefined, inspect: cachedInspection(options.file) };
}

/** An inspection takes milliseconds, so the result is cached until mtime, size or inode change. */
function cachedInspection(path: string): () => Promise<ModelFile> {
  let cached: { readonly stamp: string; readonly found: ModelFile } | undefined;
  return async () => {
    const stamp = await stat(path).then(
      ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
      () => 'missing',
    );
    if (cached?.stamp !== stamp) cached = { stamp, found: inspectModelFile(path) };
    return cached.found;
  };
}

/** The model files of the settings. */
import { stat } from 'node:fs/promises';
import type { EngineContext, Feature } from '../contract/index.ts';
import { catalogue } from './catalogue.ts';
import { inspectModelFile, type ModelFile } from './model-file.ts';
import type { ModelOptions } from './options.ts';

/** `stamp` differs when the file has changed. */
export type InspectedFile = ModelFile & { readonly stamp: string };

/** A complete model. */
export type UsableFile = Extract<InspectedFile, { readonly ok: true }>;

export interface Model extends ModelOptions {
  /** Which of the catalogue's models its file stands for, when it lies where downloads go. */
  readonly download: string | undefined;
  /** A look at the file; free when it has not changed. */
  readonly inspect: () => Promise<InspectedFile>;
}

export function toModel(options: ModelOptions, context: Pick<EngineContext, 'dataDir'>): Model {
  const download = catalogue.ids.find((id) => catalogue.pathOf(id, context) === options.file);
  return { ...options, download, inspect: remember(options.file) };
}

/** With VAD, whisper-cli counts the times of words without the removed silence (ggml-org/whisper.cpp#4046). */
export async function featuresOf({ vad, download, inspect }: Model): Promise<readonly Feature[]> {
  const file = await inspect();
  const isMultilingual = file.ok ? file.multilingual : download?.endsWith('.en') !== true;
  return [
    ...(['prompt', 'temperature', 'segment'] as const),
    ...(vad === undefined ? (['word'] as const) : []),
    'keywords',
    ...(isMultilingual ? (['translate'] as const) : []),
  ];
}

/** A look at a model file is worth milliseconds; it is taken again only when the file has changed. */
function remember(path: string): () => Promise<InspectedFile> {
  let seen: { readonly stamp: string; readonly found: InspectedFile } | undefined;
  return async () => {
    const stamp = await stat(path).then(
      ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
      () => 'missing',
    );
    if (seen?.stamp !== stamp) seen = { stamp, found: { ...inspectModelFile(path), stamp } };
    return seen.found;
  };
}

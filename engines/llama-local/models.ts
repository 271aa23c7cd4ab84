/** The models of the settings and of the catalog, and the facts about their files. */
import { OptionsError, type EngineContext, type Finding } from '../contract/index.ts';
import { validNames } from '../../lib/did-you-mean.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { explained, rememberFiles, type Judged } from '../lib/model-files.ts';
import type { LocalModel } from '../lib/local-models.ts';
import { cacheBytes, catalog } from './catalog.ts';
import { readGgufFile, type GgufFile } from './gguf.ts';
import type { ModelOptions } from './options.ts';

export type UsableModel = Extract<Judged<GgufFile>, { readonly ok: true }>;

export interface Model extends LocalModel {
  readonly file: string;
  readonly inspect: () => Promise<Judged<GgufFile>>;
}

export interface ConversationSize {
  /** In tokens, per slot. */
  readonly contextSize: number;
  readonly slots: number;
}

type ModelContext = Pick<EngineContext, 'dataDir' | 'resolve'>;

/** Throws an `OptionsError` for an invalid model. */
export function toModel(
  given: string | ModelOptions,
  { mirror, ...need }: ConversationSize & { readonly mirror: string | undefined },
  context: ModelContext,
): Model {
  const { id, file, name, model } =
    typeof given === 'string' ? { id: given, model: given } : { model: undefined, ...given };
  if ((file === undefined) === (model === undefined))
    throw new OptionsError(`models: "${id}" needs either file or model`);
  if (file !== undefined) return { id, name, ...fileOf(context.resolve(file)), downloads: [] };
  if (!catalog.find(model ?? '')) {
    const known = validNames(catalog.ids, model);
    throw new OptionsError(`models: the catalog has no model "${model}"; ${known}; or an object with id and file`);
  }
  const found = fileOf(catalog.pathOf(model ?? '', context));
  const isReady = async () => (await found.inspect()).ok;
  const memoryOf = (bytes: number) => needOf({ bytes, cacheBytes: cacheBytes[model ?? ''] ?? 0 }, need);
  const download = catalog.asset(model ?? '', context, mirror, { isReady, memoryOf });
  return { id, name: name ?? download.title, ...found, downloads: [download] };
}

function fileOf(file: string): Pick<Model, 'file' | 'inspect'> {
  return { file, inspect: rememberFiles([file], () => explained(file, () => readGgufFile(file))) };
}

/**
 * Bytes of memory: the file, which is mapped or repacked, the cache of each conversation, and the memory of the library
 * itself.
 */
export function needOf(
  { bytes, cacheBytes }: Pick<GgufFile, 'bytes' | 'cacheBytes'>,
  { contextSize, slots }: ConversationSize,
): number {
  return Math.round(1.1 * bytes) + cacheBytes * contextSize * slots + 150 * 2 ** 20;
}

export async function inspectModel(model: Model, need: ConversationSize): Promise<Finding[]> {
  const what = `model ${model.id}`;
  const found = await model.inspect();
  if (found.ok) {
    const needed = megabytes(needOf(found, need));
    return [{ what, ok: true, detail: `${megabytes(found.bytes)}, needs about ${needed} loaded, ${model.file}` }];
  }
  return model.downloads.length > 0 ? [] : [{ what, ok: false, detail: found.detail }];
}

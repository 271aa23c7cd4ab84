/** The model files of the settings and of the catalog. */
import { stat } from 'node:fs/promises';
import { type EngineContext, EngineError, type FilesAsset, type ModelEntry } from '../contract/index.ts';
import { languagesWithoutIso, whisperLanguages } from '../../lib/languages.ts';
import { pulledId } from '../lib/local-models.ts';
import { catalog } from './catalog.ts';
import { inspectModelFile, type ModelFile } from './model-file.ts';
import type { ModelOptions, Options } from './options.ts';

/** `stamp` differs when the file has changed. */
type InspectedFile = ModelFile & { readonly stamp: string };

/** A complete model. */
export type UsableFile = Extract<InspectedFile, { readonly ok: true }>;

export interface Model extends ModelOptions {
  /** Id of the model in the catalog; undefined for other models. */
  readonly download: string | undefined;
  readonly downloads: readonly FilesAsset[];
  /** Inspects the file again only if it has changed. */
  readonly inspect: () => Promise<InspectedFile>;
}

type ModelContext = Pick<EngineContext, 'dataDir'>;

export function toModel(model: ModelOptions, { mirror }: Pick<Options, 'mirror'>, context: ModelContext): Model {
  const download = catalog.ids.find((id) => catalog.pathOf(id, context) === model.file);
  const inspect = remember(model.file);
  const isReady = async () => (await inspect()).ok;
  const downloads =
    download === undefined
      ? []
      : [catalog.asset(download, context, mirror, { isReady, memoryOf: (bytes) => needOf({ bytes }) })];
  return { ...model, download, downloads, inspect };
}

/**
 * Memory in bytes. whisper.cpp's README lists 273 MB for a file of 75 MB, 388 for 142, 852 for 466, 2.1 GB for 1.5, and
 * 3.9 GB for 2.9.
 */
export const needOf = ({ bytes }: Pick<UsableFile, 'bytes'>): number => Math.round(1.25 * bytes) + 200 * 2 ** 20;

/** A model of the catalog that the settings do not list. */
export function pulledModel(name: string, options: Pick<Options, 'mirror'>, context: ModelContext): Model {
  const model = { id: pulledId(name), name: catalog.titleOf(name), file: catalog.pathOf(name, context) };
  return toModel(model, options, context);
}

/**
 * With VAD, whisper-cli counts the times of words without the removed silence (ggml-org/whisper.cpp#4046). Only
 * whisper-host chooses between languages.
 */
export function abilitiesOf(
  { vad, download }: Pick<Model, 'vad' | 'download'>,
  file: InspectedFile,
  { hasHost }: { readonly hasHost: boolean },
): Required<Pick<ModelEntry, 'supports' | 'languages'>> {
  const isMultilingual = file.ok ? file.multilingual : download?.endsWith('.en') !== true;
  const supports = [
    ...(['prompt', 'temperature', 'segment'] as const),
    ...(vad === undefined ? (['word'] as const) : []),
    'keywords' as const,
    ...(isMultilingual && hasHost && vad === undefined ? (['languages'] as const) : []),
    ...(isMultilingual ? (['translate'] as const) : []),
  ];
  const knowsCantonese = file.ok ? file.knowsCantonese : download?.startsWith('large-v3') === true;
  return { supports, languages: languagesOf({ multilingual: isMultilingual, knowsCantonese }) };
}

type Vocabulary = Pick<UsableFile, 'multilingual' | 'knowsCantonese'>;

function languagesOf({ multilingual, knowsCantonese }: Vocabulary): readonly string[] {
  if (!multilingual) return ['en'];
  return [...whisperLanguages, ...languagesWithoutIso.filter((code) => knowsCantonese || code !== 'yue')];
}

/** Inspecting a model file takes milliseconds, so the result is kept until the file changes. */
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

const known = new Set(whisperLanguages);

/** Whisper's code of a language. */
const toWhisper = (language: string): string => (language === 'jv' ? 'jw' : language);

/** ISO 639-1 code, or null for Whisper languages that have none (Hawaiian, Cantonese). */
export function fromWhisper(code: string | undefined): string | null {
  const language = code === 'jw' ? 'jv' : code;
  return language !== undefined && known.has(language) ? language : null;
}

/**
 * Returns the languages that the model knows, as Whisper's codes: several limit the detection, a single one is used as
 * the language, none has no effect.
 */
export function limitTo(
  languages: readonly string[],
  file: Vocabulary,
): { language?: string; languages?: readonly string[] } {
  const known = languagesOf(file);
  const [language, ...more] = languages.filter((code) => known.includes(code)).map(toWhisper);
  if (language === undefined) return {};
  return more.length === 0 ? { language } : { language: 'auto', languages: [language, ...more] };
}

/**
 * The value of whisper-cli's `-l`: the requested language, else `auto` (the program's own default is English), or `en`
 * for an English-only model. Throws `language-not-supported`.
 */
export function languageFor(language: string | undefined, file: Vocabulary, model: string): string {
  if (language === undefined) return file.multilingual ? 'auto' : 'en';
  if (languagesOf(file).includes(language)) return toWhisper(language);
  throw new EngineError('language-not-supported', whyNot(language, file, model));
}

function whyNot(language: string, { multilingual }: Vocabulary, model: string): string {
  if (!multilingual) return `The model ${model} supports only English (en), not "${language}".`;
  if (language !== 'yue') return `Whisper does not support the language "${language}".`;
  return `The model ${model} does not support Cantonese (yue); Whisper does since large-v3.`;
}

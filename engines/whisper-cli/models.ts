/** The model files that the settings name. */
import { stat } from 'node:fs/promises';
import { type EngineContext, EngineError, type ModelEntry } from '../contract/index.ts';
import { whisperLanguages } from '../../lib/languages.ts';
import { catalogue } from './catalogue.ts';
import { inspectModelFile, type ModelFile } from './model-file.ts';
import type { ModelOptions } from './options.ts';

/** `stamp` differs when the file has changed. */
type InspectedFile = ModelFile & { readonly stamp: string };

/** A complete model. */
export type UsableFile = Extract<InspectedFile, { readonly ok: true }>;

export interface Model extends ModelOptions {
  /** Id of the catalogue's model whose download path is `file`; undefined for other files. */
  readonly download: string | undefined;
  /** Inspects the file again only if it has changed. */
  readonly inspect: () => Promise<InspectedFile>;
}

export function toModel(options: ModelOptions, context: Pick<EngineContext, 'dataDir'>): Model {
  const download = catalogue.ids.find((id) => catalogue.pathOf(id, context) === options.file);
  return { ...options, download, inspect: remember(options.file) };
}

/**
 * With VAD, whisper-cli counts the times of words without the removed silence (ggml-org/whisper.cpp#4046). Only
 * whisper-host chooses between languages.
 */
export async function abilitiesOf(
  { vad, download, inspect }: Model,
  hasHost: boolean,
): Promise<Required<Pick<ModelEntry, 'supports' | 'languages'>>> {
  const file = await inspect();
  const isMultilingual = file.ok ? file.multilingual : download?.endsWith('.en') !== true;
  const supports = [
    ...(['prompt', 'temperature', 'segment'] as const),
    ...(vad === undefined ? (['word'] as const) : []),
    'keywords' as const,
    ...(isMultilingual && hasHost && vad === undefined ? (['languages'] as const) : []),
    ...(isMultilingual ? (['translate'] as const) : []),
  ];
  return { supports, languages: isMultilingual ? whisperLanguages : ['en'] };
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

/** Whisper's code of a language, or undefined if it is not supported. */
function toWhisper(language: string): string | undefined {
  if (!known.has(language)) return undefined;
  return language === 'jv' ? 'jw' : language;
}

/** ISO 639-1 code, or null for Whisper languages that have none (Hawaiian, Cantonese). */
export function fromWhisper(code: string | undefined): string | null {
  const language = code === 'jw' ? 'jv' : code;
  return language !== undefined && known.has(language) ? language : null;
}

/** The languages that Whisper knows, by its codes: several limit the detection, one is the language, none has no effect. */
export function limitTo(languages: readonly string[]): { language?: string; languages?: readonly string[] } {
  const [language, ...more] = languages.map(toWhisper).filter((code) => code !== undefined);
  if (language === undefined) return {};
  return more.length === 0 ? { language } : { language: 'auto', languages: [language, ...more] };
}

/**
 * The value of whisper-cli's `-l`: the requested language, else `auto` (the program's own default is English). Throws
 * `language-not-supported`.
 */
export function languageFor(language: string | undefined, multilingual: boolean, model: string): string {
  if (!multilingual) {
    if (language === undefined || language === 'en') return 'en';
    throw new EngineError(
      'language-not-supported',
      `The model ${model} supports only English (en), not "${language}".`,
    );
  }
  if (language === undefined) return 'auto';
  const code = toWhisper(language);
  if (code !== undefined) return code;
  throw new EngineError('language-not-supported', `Whisper does not support the language "${language}".`);
}

/** The model files that the settings name. */
import { stat } from 'node:fs/promises';
import { type EngineContext, EngineError, type Feature } from '../contract/index.ts';
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
export async function featuresOf({ vad, download, inspect }: Model, hasHost: boolean): Promise<readonly Feature[]> {
  const file = await inspect();
  const isMultilingual = file.ok ? file.multilingual : download?.endsWith('.en') !== true;
  return [
    ...(['prompt', 'temperature', 'segment'] as const),
    ...(vad === undefined ? (['word'] as const) : []),
    'keywords',
    ...(isMultilingual && hasHost && vad === undefined ? (['languages'] as const) : []),
    ...(isMultilingual ? (['translate'] as const) : []),
  ];
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

const known = new Set(
  (
    'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
    'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu ' +
    'am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt ln ha ba jv su'
  ).split(' '),
);

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

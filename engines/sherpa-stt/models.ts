/** The models of the settings and of the catalog, and what they can do. */
import { EngineError, type EngineContext, type FilesAsset, type Finding, type ModelEntry } from '../contract/index.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { rememberFolder } from '../lib/sherpa/folder.ts';
import { pulledId } from '../lib/local-models.ts';
import { catalog, languagesOf } from './catalog.ts';
import { families } from './families.ts';
import type { ModelFacts, ModelFiles, UsableModel } from './model-facts.ts';
import type { ModelOptions } from './options.ts';

export interface Model extends ModelOptions {
  /** The downloads of the model in the catalog. */
  readonly downloads: readonly FilesAsset[];
  /** Checks the files again only if they have changed. */
  readonly inspect: () => Promise<ModelFiles>;
}

type ModelContext = Pick<EngineContext, 'dataDir' | 'resolve'>;

export function toModel(options: ModelOptions, mirror: string | undefined, context: ModelContext): Model {
  const folder = context.resolve(options.folder);
  const all = options.kind === undefined ? Object.values(families) : [families[options.kind]];
  const judge = rememberFolder<ModelFacts>(folder, all);
  const inspect = async () => checkLanguage(options.language, folder, await judge());
  const name = catalog.ids.find((id) => catalog.pathOf(id, context) === folder);
  const isReady = async () => (await inspect()).ok;
  const downloads =
    name === undefined
      ? []
      : [catalog.asset(name, context, mirror, { isReady, memoryOf: (bytes) => needOf({ bytes }) })];
  return { ...options, folder, inspect, downloads };
}

/** A model fails or produces nonsense if the settings name a language that it does not transcribe. */
function checkLanguage(language: string | undefined, folder: string, found: ModelFiles): ModelFiles {
  if (language === undefined || !found.ok || found.languages?.includes(language) !== false) return found;
  return {
    ok: false,
    detail: `${folder} transcribes ${found.languages.join(', ')}, not "${language}" of the settings`,
  };
}

/** A model of the catalog that the settings do not list. */
export function pulledModel(id: string, mirror: string | undefined, context: ModelContext): Model {
  const options = { id: pulledId(id), name: catalog.titleOf(id), folder: catalog.pathOf(id, context) };
  return toModel(options, mirror, context);
}

export function abilitiesOf(model: Model, found: ModelFiles): Required<Pick<ModelEntry, 'supports' | 'languages'>> {
  const supports = found.ok && !found.hasTimes ? (['segment'] as const) : (['segment', 'word'] as const);
  return { supports, languages: acceptedLanguages(model, found) };
}

/**
 * The settings take precedence over the files, and the files over the catalog. If none of them names a language, the
 * model accepts none.
 */
function acceptedLanguages({ language, downloads: [download] }: Model, found: ModelFiles): readonly string[] {
  if (language !== undefined) return [language];
  return (found.ok ? found.languages : undefined) ?? languagesOf(download?.id) ?? [];
}

/** The language and the hint of a request. Throws `language-not-supported`. */
export function languagesFor(model: Model, found: UsableModel, requested: string | undefined) {
  const accepted = acceptedLanguages(model, found);
  if (requested !== undefined && !accepted.includes(requested)) throw notSupported(model.id, accepted, requested);
  const language = accepted.length === 1 ? accepted[0] : undefined;
  return { language, hint: found.hint === undefined ? undefined : (requested ?? language) };
}

function notSupported(id: string, accepted: readonly string[], requested: string): EngineError {
  const names = accepted.map((language) => `"${language}"`).join(', ');
  const why =
    accepted.length === 0
      ? 'does not accept a language, because its settings name none'
      : `supports only ${names}, not "${requested}"`;
  return new EngineError('language-not-supported', `The model ${id} ${why}.`);
}

/**
 * Memory in bytes: the library copies the files (2 * bytes + 100 MB, measured with generated weights), and each piece
 * needs more.
 */
export const needOf = ({ bytes }: Pick<UsableModel, 'bytes'>): number => 2 * bytes + 200_000_000;

/** The service itself lists the assets that it can install. */
export async function inspectModel({ id, language, downloads, inspect }: Model): Promise<Finding[]> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok) return downloads.length > 0 ? [] : [{ what, ok: false, detail: found.detail }];
  const sizes = `${megabytes(found.bytes)}, needs about ${megabytes(needOf(found))} loaded`;
  const spoken = language ?? found.languages?.join(' ') ?? 'no language';
  return [{ what, ok: true, detail: `${sizes}, ${spoken}, ${found.file}` }];
}

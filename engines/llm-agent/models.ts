/** The models of an instance: those in the settings, and those that the provider lists. */
import { EngineError, type Feature, type ModelEntry } from '../contract/index.ts';
import type { Discovery } from './discovery.ts';
import type { Locality } from '../lib/provider/locality.ts';
import type { DialectOptions, ModelOptions, Options } from './options.ts';
import { takesTools, type RequestVariant } from './request-variant.ts';

export interface Model {
  readonly id: string;
  readonly name: string | undefined;
  readonly remoteId: string;
  readonly discovered: boolean;
  /** Features that the settings list. */
  readonly listed: readonly Feature[];
  readonly api: NonNullable<DialectOptions['api']>;
  /** The variant of requests that the provider accepts, as far as it is known. */
  variant: RequestVariant;
}

export interface Catalog {
  /** The entries as far as they are known. */
  readonly entries: () => readonly ModelEntry[];
  /** Throws `unknown-model`. */
  readonly modelOf: (id: string) => Model;
}

/** `discovery` is present if the provider's own list is served. */
export function createCatalog(
  options: Options,
  locality: Pick<Locality, 'of'>,
  discovery: Pick<Discovery, 'ids'> | undefined,
): Catalog {
  // A duplicate stays in the list of entries, so that the registry reports it.
  const all = (options.models ?? []).map((item) =>
    toModel(typeof item === 'string' ? { id: item } : item, options, false),
  );
  const written = new Map(all.map((model) => [model.id, model]));
  const writtenRemoteIds = new Set(all.map(({ remoteId }) => remoteId));
  /** The models are kept when the list changes, because they record what the provider rejects. */
  const discovered = new Map<string, Model>();
  /** Stands for a listed model that has not been called yet. */
  const defaults = toModel({ id: '' }, options, true);

  function listed(): readonly string[] {
    return (discovery?.ids() ?? []).filter((id) => !written.has(id) && !writtenRemoteIds.has(id));
  }

  function find(id: string): Model | undefined {
    const known = written.get(id) ?? discovered.get(id);
    if (known || !listed().includes(id)) return known;
    const model = toModel({ id }, options, true);
    discovered.set(id, model);
    return model;
  }

  return {
    entries() {
      const named = all.map(({ id, name, remoteId, variant, listed: features }) => ({
        ...{ id, ...locality.of(remoteId), supports: [...supportsOf(variant), ...features] },
        ...(name !== undefined && { name }),
      }));
      const found = listed().map((id) => {
        const { variant } = discovered.get(id) ?? defaults;
        return { id, ...locality.of(id), discovered: true, supports: supportsOf(variant) };
      });
      return [...named, ...found];
    },
    modelOf(id) {
      const model = find(id);
      if (model === undefined) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
      return model;
    },
  };
}

function toModel(own: ModelOptions, provider: DialectOptions, discovered: boolean): Model {
  const { id, name, remoteId = id, supports: features = [] } = own;
  const {
    api = 'chat',
    maxTokensParam = 'max_tokens',
    replayReasoning = true,
    dropParams = [],
  } = {
    ...provider,
    ...own,
  };
  return {
    ...{ id, name, remoteId, discovered, api, listed: features },
    variant: { limitParam: maxTokensParam, replaysReasoning: replayReasoning, dropped: dropParams },
  };
}

/** Fields that `json` requires; the settings may drop them. */
const jsonFields = ['response_format', 'text', 'stop'];

function supportsOf(variant: RequestVariant): readonly Feature[] {
  const takesJson = !jsonFields.some((field) => variant.dropped.includes(field));
  return [...(takesTools(variant) ? (['tools'] as const) : []), ...(takesJson ? (['json'] as const) : [])];
}

/** The models of an instance: those that the settings write, and those that the provider lists. */
import type { Feature } from '../contract/index.ts';
import { entryOf, type ModelSource } from '../lib/serve-models.ts';
import type { Discovery } from './discovery.ts';
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
  /** The variant of requests that it accepts, as far as is known. */
  variant: RequestVariant;
}

/** `discovery` is there when the provider's own list is to be served. */
export function createCatalogue(options: Options, discovery: Discovery | undefined): ModelSource<Model> {
  // A twin stays in the list of entries, for the registry to complain about.
  const all = (options.models ?? []).map((item) =>
    toModel(typeof item === 'string' ? { id: item } : item, options, false),
  );
  const written = new Map(all.map((model) => [model.id, model]));
  const writtenRemoteIds = new Set(all.map(({ remoteId }) => remoteId));
  /** Kept when the list changes: they remember what the provider refused. */
  const discovered = new Map<string, Model>();
  /** A listed model that has not been called yet. */
  const usual = toModel({ id: '' }, options, true);
  const { local = false } = options;

  function listed(): readonly string[] {
    return (discovery?.ids() ?? []).filter((id) => !written.has(id) && !writtenRemoteIds.has(id));
  }

  return {
    async entries() {
      // From memory, but for the provider's first list, which is waited for a moment.
      await discovery?.refresh();
      const named = all.map((model) => ({
        ...entryOf(model, local),
        supports: [...supportsOf(model.variant), ...model.listed],
      }));
      const found = listed().map((id) => {
        const { variant } = discovered.get(id) ?? usual;
        return { id, local, discovered: true, supports: supportsOf(variant) };
      });
      return [...named, ...found];
    },
    find(id) {
      const known = written.get(id) ?? discovered.get(id);
      if (known || !listed().includes(id)) return known;
      const model = toModel({ id }, options, true);
      discovered.set(id, model);
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

/** Fields of which the settings may say that they are never sent; without them JSON cannot be asked for. */
const jsonFields = ['response_format', 'text', 'stop'];

function supportsOf(variant: RequestVariant): readonly Feature[] {
  const takesJson = !jsonFields.some((field) => variant.dropped.includes(field));
  return [...(takesTools(variant) ? (['tools'] as const) : []), ...(takesJson ? (['json'] as const) : [])];
}

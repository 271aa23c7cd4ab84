/** The models of an instance: those that the settings write, and those that the provider lists. */
import { entryOf, type ModelSource } from '../lib/serve-models.ts';
import type { Discovery } from './discovery.ts';
import type { DialectOptions, ModelOptions, Options } from './options.ts';
import type { Shape } from './shape.ts';

export interface Model {
  readonly id: string;
  readonly name: string | undefined;
  readonly remoteId: string;
  readonly discovered: boolean;
  readonly api: NonNullable<DialectOptions['api']>;
  /** Of the requests that it takes, by all that is known so far. */
  shape: Shape;
}

/** `discovery` is there when the provider's own list is to be served. */
export function createCatalogue(options: Options, discovery: Discovery | undefined): ModelSource<Model> {
  const written = new Map<string, Model>();
  const writtenRemoteIds = new Set<string>();
  for (const item of options.models ?? []) {
    const model = toModel(typeof item === 'string' ? { id: item } : item, options, false);
    // A twin stays in the list of entries, for the registry to complain about.
    written.set(model.id, model);
    writtenRemoteIds.add(model.remoteId);
  }
  /** Kept when the list changes: they remember what the provider refused. */
  const discovered = new Map<string, Model>();
  const { local = false } = options;

  function listed(): readonly string[] {
    return (discovery?.ids() ?? []).filter((id) => !written.has(id) && !writtenRemoteIds.has(id));
  }

  return {
    async entries() {
      // From memory, but for the provider's first list, which is waited for a moment.
      await discovery?.refresh();
      const named = (options.models ?? []).map((item) =>
        entryOf(typeof item === 'string' ? { id: item } : item, local),
      );
      return [...named, ...listed().map((id) => ({ id, local, discovered: true }))];
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
  const { id, name, remoteId = id } = own;
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
    ...{ id, name, remoteId, discovered, api },
    shape: { limitParam: maxTokensParam, replaysReasoning: replayReasoning, dropped: dropParams },
  };
}

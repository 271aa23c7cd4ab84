/** The provider's list of models. */
import { EngineError, type Capability, type EngineContext } from '../contract/index.ts';
import { ignore } from '../../lib/errors.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import { createNameFilter } from '../../lib/name-filter.ts';
import { fetchModelList, listPath } from '../lib/provider/fetch-list.ts';
import { badResponse } from '../lib/provider/failures.ts';
import type { Locality } from '../lib/provider/locality.ts';
import type { Provider } from '../lib/provider/provider.ts';

const maxModels = 1_000;
const maxIdLength = 256;

export interface Discovery {
  /** The latest list. It is kept when a later fetch fails. */
  ids(): readonly string[];
  /**
   * Why there is no list, if it is the only source of models; undefined if there is one, or if the first has not
   * arrived yet.
   */
  failure(): EngineError | undefined;
  /** Fetches the list. Rejects with an `EngineError`. */
  readonly fetch: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

export interface DiscoveryOptions {
  readonly provider: Provider;
  readonly locality: Pick<Locality, 'ask'>;
  readonly filter: readonly string[] | undefined;
  /**
   * True if the settings list no models: a failure to fetch the first list is then a failure of the engine, which the
   * service logs.
   */
  readonly isOnlySource: boolean;
  readonly log: EngineContext['log'];
}

export function createDiscovery({ provider, locality, filter, isOnlySource, log }: DiscoveryOptions): Discovery {
  const serves = createListFilter(filter);
  let ids: readonly string[] = [];
  /** Result of the last fetch: only changes are logged. */
  let outcome: string | undefined;
  let failure: EngineError | undefined;

  async function fetchIds(signal: AbortSignal): Promise<readonly string[]> {
    const list = await fetchModelList(provider, {}, signal);
    return serves(readModels(list, provider)).map(({ id }) => id);
  }

  return {
    ids: () => ids,
    failure: () => (isOnlySource && ids.length === 0 ? failure : undefined),
    async fetch(signal) {
      // The locality is requested after the list, so that it covers every listed model.
      ids = await fetchIds(signal).finally(() => locality.ask?.(signal).catch(ignore));
      if (outcome !== 'ready') log.debug({ models: ids.length }, 'listed the models of the provider');
      outcome = 'ready';
      failure = undefined;
    },
    onFailure(error) {
      failure = EngineError.is(error)
        ? error
        : new EngineError('engine-failed', 'The engine could not list its models.', { cause: error });
      const level = isOnlySource && ids.length === 0 ? 'debug' : 'warn';
      if (outcome !== failure.code) log[level]({ err: error }, 'could not list the models of the provider');
      outcome = failure.code;
    },
  };
}

/** Returns a function that keeps the listed models that are served. */
export function createListFilter(filter: readonly string[] | undefined) {
  const passes = createFilter(filter);
  return (listed: readonly ListedModel[]): readonly ListedModel[] =>
    listed
      .filter(({ id, isChat }) => isChat !== false && (passes(id) || (isChat === true && filter === undefined)))
      .slice(0, maxModels);
}

/**
 * Throws if the list comes from the native API of another Parlance, which has models, but no chat completions under
 * this path.
 */
function refuseParlance(text: string): void {
  const list = parseObject(text);
  if (list === undefined || !('default' in list) || !objectsOf(list.data).some((entry) => 'engine' in entry)) return;
  const message = 'This is the API of another Parlance; its chat completions are below /v1, not /api/v1.';
  throw new EngineError('provider-misconfigured', message);
}

export interface ListedModel {
  readonly id: string;
  /** Undefined if the provider does not list the features of the model. */
  readonly isChat: boolean | undefined;
}

/** `{data: [{id}]}`; `data` may be null if there are no models, and some servers send the bare array. */
export function readModels(text: string, { baseUrlHint }: Pick<Provider, 'baseUrlHint'>): readonly ListedModel[] {
  refuseParlance(text);
  const list = text.trimStart().startsWith('[') ? parseObject(`{"data":${text}}`) : parseObject(text);
  if (list === undefined || !('data' in list)) {
    const why = 'neither a list nor an object with data';
    throw badResponse('The provider sent an invalid list of models.', why, baseUrlHint(listPath));
  }
  const models = new Map<string, ListedModel>();
  for (const { id: given, capabilities } of objectsOf(list.data)) {
    const id = textOf(given);
    // eslint-disable-next-line no-control-regex
    if (id === '' || id.length > maxIdLength || /[\x00-\x1f\x7f]/.test(id) || models.has(id)) continue;
    models.set(id, { id, isChat: readIsChat(capabilities) });
  }
  return [...models.values()];
}

/** The capabilities in the lists of a Parlance. */
const kinds: readonly unknown[] = ['chat', 'speech', 'transcription'] satisfies Capability[];

/** Other providers list other values, such as `["tool_use"]` (LM Studio), which do not exclude chat. */
function readIsChat(capabilities: unknown): boolean | undefined {
  if (!Array.isArray(capabilities) || !capabilities.some((one) => kinds.includes(one))) return undefined;
  return capabilities.includes('chat');
}

/**
 * Names of models that are not chat models (OpenAI, Google, Groq, Mistral, Ollama): a provider's list contains all
 * models without their kind, and may start with one of these.
 */
const notChat =
  /embed|rerank|whisper|transcri|\btts\b|gpt-(\S*-)?audio|realtime|moderation|dall-e|gpt-image|imagen|\b(sora|veo)\b|babbage|davinci/i;

/**
 * Patterns are ids with * as a wildcard; a leading "!" excludes. Without patterns, only models that are not chat models
 * are excluded.
 */
function createFilter(patterns: readonly string[] | undefined): (id: string) => boolean {
  if (patterns === undefined) return (id) => !notChat.test(id);
  return createNameFilter(patterns);
}

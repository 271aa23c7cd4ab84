/**
 * Whether the models of a provider run on this machine. Ollama on this machine forwards the calls of its cloud models.
 * It lists these models with a `remote_host`, in an API of its own next to the OpenAI-compatible one.
 */
import type { ModelEntry } from '../../contract/index.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { objectsOf, parseObject, textOf, type JsonObject } from '../../../lib/json.ts';
import { fetchList } from './fetch-list.ts';
import { PageError } from './failures.ts';
import type { ProviderOptions } from './options.ts';
import type { Provider } from './provider.ts';

type ModelLocality = Pick<ModelEntry, 'local' | 'mayBeLocal'>;

/** `listed`: whether the model is local according to the provider; undefined while that is unknown. */
export function placeOf({ local, baseUrl }: ProviderOptions, listed: boolean | undefined): ModelLocality {
  if (local !== undefined) return { local };
  if (!isLoopback(new URL(baseUrl).hostname)) return { local: false };
  return listed === undefined ? { local: false, mayBeLocal: true } : { local: listed };
}

export interface Locality {
  /** `remoteId`: the provider's id of the model. */
  of(remoteId: string): ModelLocality;
  /**
   * Asks the provider. Rejects if the answer is inconclusive, or with the signal's reason. Undefined if the settings
   * decide, or if a key is needed but not set.
   */
  readonly ask: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** For the log. */
export const unknownPlace = 'it is unknown whether the models of the provider are local';

type IsOfCloud = (remoteId: string) => boolean;

export function createLocality(options: ProviderOptions, provider: Provider): Locality {
  let isOfCloud: IsOfCloud | undefined;
  const isDecided = placeOf(options, undefined).mayBeLocal === undefined;
  // The base URL may be the root URL of Ollama: `path` of hosted-stt and tts may begin with /v1.
  const path = provider.baseUrl.endsWith('/v1') ? '/../api/tags' : '/api/tags';
  async function ask(signal: AbortSignal): Promise<void> {
    let status = 0;
    const explain = (refusal: { readonly status: number }) => ((status = refusal.status), undefined);
    try {
      const request = { path, explain, countsForHealth: false };
      isOfCloud = readCloudModels(await fetchList(provider, request, signal));
    } catch (error) {
      if (error instanceof PageError) isOfCloud = hasCloudName;
      else if (status !== 0) isOfCloud = isWithoutList(status) ? hasCloudName : undefined;
      if (!isOfCloud || signal.aborted) throw error;
    }
  }

  return {
    of: (remoteId) => placeOf(options, isOfCloud && !isOfCloud(remoteId)),
    ask: isDecided || options.apiKey === '' ? undefined : ask,
  };
}

/** True if the server is not Ollama. */
const isWithoutList = (status: number): boolean => status === 404 || status === 405;

/**
 * Names of Ollama's cloud models, such as gpt-oss:120b-cloud and qwen3-coder:cloud, which it also serves when they are
 * not listed.
 */
const hasCloudName: IsOfCloud = (remoteId) => /[:-]cloud$/i.test(remoteId);

/** Servers without such a list may return anything: LM Studio returns an error with the status 200. */
function readCloudModels(text: string): IsOfCloud {
  const models = objectsOf(parseObject(text)?.models);
  const isRemote = ({ remote_host: host }: JsonObject) => textOf(host) !== '';
  const remote = namesOf(models.filter(isRemote));
  const own = namesOf(models.filter((model) => !isRemote(model)));
  return (remoteId) => {
    const name = wholeName(remoteId);
    // Ollama also accepts names that it does not list, such as library/NAME; llama.cpp, which also has this list,
    // accepts any name.
    return hasCloudName(remoteId) || remote.has(name) || (remote.size > 0 && !own.has(name));
  };
}

function namesOf(models: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(models.flatMap(({ name, model }) => [wholeName(textOf(name)), wholeName(textOf(model))]));
}

/** Ollama ignores case. */
function wholeName(name: string): string {
  return (/:[^/]*$/.test(name) ? name : `${name}:latest`).toLowerCase();
}

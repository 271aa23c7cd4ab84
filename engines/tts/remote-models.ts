/** The speech models of another Parlance: refreshed in the background, served from memory. */
import type { EngineContext, Voice } from '../contract/index.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import { fetchList, refreshInBackground } from '../lib/provider/background-refresh.ts';
import type { Provider } from '../lib/provider/provider.ts';

/** How long a listing waits for the first answer, counted from the start; the service waits 1 s for a listing. */
const firstWaitMs = 500;

export interface RemoteModels extends Disposable {
  /** Voices of a model by its remote id; undefined while unknown, or if it lists none. */
  of(remoteId: string): readonly Voice[] | undefined;
  /** Whether a model is local there; undefined while unknown. */
  isLocal(remoteId: string): boolean | undefined;
  /** Starts a refresh if the list is old. Resolves immediately, but waits briefly for the first list. */
  refresh(): Promise<void>;
}

export function startRemoteModels(provider: Provider, { now, log }: Pick<EngineContext, 'now' | 'log'>): RemoteModels {
  let models: ReadonlyMap<string, RemoteModel> | undefined;
  const refreshing = refreshInBackground({
    now,
    firstWaitMs,
    async fetch(signal) {
      models = readModels(await fetchList(provider, { path: '/tts/models' }, signal));
    },
    onFailure: (err) => log.debug({ err }, 'could not list the models of the other service'),
  });
  return {
    ...refreshing,
    of: (remoteId) => models?.get(remoteId)?.voices,
    isLocal: (remoteId) => models && models.get(remoteId)?.isLocal === true,
  };
}

interface RemoteModel {
  readonly voices: readonly Voice[] | undefined;
  readonly isLocal: boolean;
}

/** `{data: [{id, local, voices: [{id, name, language}]}]}`; everything else is skipped. */
function readModels(text: string): Map<string, RemoteModel> {
  const found = new Map<string, RemoteModel>();
  for (const { id, local, voices: listed } of objectsOf(parseObject(text)?.data)) {
    const voices = objectsOf(listed)
      .map(toVoice)
      .filter((voice) => voice.id !== '');
    found.set(textOf(id), { voices: voices.length > 0 ? voices : undefined, isLocal: local === true });
  }
  return found;
}

function toVoice({ id, name, language }: Readonly<Record<string, unknown>>): Voice {
  const code = textOf(language);
  return { id: textOf(id), name: textOf(name) || textOf(id), language: /^[a-z]{2}$/.test(code) ? code : null };
}

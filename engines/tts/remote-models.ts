/** The speech models of another Parlance. */
import type { Voice } from '../contract/index.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import { fetchList } from '../lib/provider/fetch-list.ts';
import type { Provider } from '../lib/provider/provider.ts';

export interface RemoteModels {
  /** Returns the voices of a model by its remote id; undefined while unknown, or if none are listed. */
  of(remoteId: string): readonly Voice[] | undefined;
  /** Whether a model is local there; undefined while unknown. */
  isLocal(remoteId: string): boolean | undefined;
  /** Rejects with an `EngineError`, in which case the latest list is kept. */
  readonly fetch: (signal: AbortSignal) => Promise<void>;
}

export function createRemoteModels(provider: Provider): RemoteModels {
  let models: ReadonlyMap<string, RemoteModel> | undefined;
  return {
    of: (remoteId) => models?.get(remoteId)?.voices,
    isLocal: (remoteId) => models && models.get(remoteId)?.isLocal === true,
    async fetch(signal) {
      models = readModels(await fetchList(provider, { path: '/tts/models' }, signal));
    },
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

/** The voices of the speech models of another Parlance: refreshed in the background, served from memory. */
import type { EngineContext, Voice } from '../contract/index.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import { fetchList, refreshInBackground } from '../lib/provider/background-refresh.ts';
import type { Provider } from '../lib/provider/provider.ts';

/** How long a listing waits for the first answer, counted from the start; the service waits 1 s for a listing. */
const firstWaitMs = 500;

export interface RemoteVoices extends Disposable {
  /** Voices of a model by its remote id; undefined while unknown, or if it lists none. */
  of(remoteId: string): readonly Voice[] | undefined;
  /** Starts a refresh if the list is old. Resolves immediately, but waits briefly for the first list. */
  refresh(): Promise<void>;
}

export function startRemoteVoices(provider: Provider, { now, log }: Pick<EngineContext, 'now' | 'log'>): RemoteVoices {
  let voices: ReadonlyMap<string, readonly Voice[]> = new Map();
  const refreshing = refreshInBackground({
    now,
    firstWaitMs,
    async fetch(signal) {
      voices = readVoices(await fetchList(provider, { path: '/tts/models' }, signal));
    },
    onFailure: (err) => log.debug({ err }, 'could not list the voices of the other service'),
  });
  return { ...refreshing, of: (remoteId) => voices.get(remoteId) };
}

/** `{data: [{id, voices: [{id, name, language}]}]}`; everything else is skipped. */
function readVoices(text: string): Map<string, readonly Voice[]> {
  const found = new Map<string, readonly Voice[]>();
  for (const { id, voices } of objectsOf(parseObject(text)?.data)) {
    const list = objectsOf(voices).map(toVoice);
    const named = list.filter((voice) => voice.id !== '');
    if (named.length > 0) found.set(textOf(id), named);
  }
  return found;
}

function toVoice({ id, name, language }: Readonly<Record<string, unknown>>): Voice {
  const code = textOf(language);
  return { id: textOf(id), name: textOf(name) || textOf(id), language: /^[a-z]{2}$/.test(code) ? code : null };
}

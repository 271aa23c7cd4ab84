/** The voices that another Parlance lists for its speech models: asked for in the background, answered from memory. */
import { EngineError, type EngineContext, type Voice } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { readText } from '../lib/provider/transport.ts';

const askMs = 5_000;
const freshMs = 60_000;
const retryMs = 3_000;
/** What a listing waits for the first answer; the service waits 1 s for a listing. */
const firstWaitMs = 500;
const longestList = 8 * 2 ** 20;

export interface RemoteVoices extends Disposable {
  /** Of a model by its id there; undefined while they are unknown, or where it lists none. */
  of(remoteId: string): readonly Voice[] | undefined;
  /** Asks again when the list is old; waits a moment for the first one. */
  refresh(): Promise<void>;
}

export function startRemoteVoices(provider: Provider, { now, log }: Pick<EngineContext, 'now' | 'log'>): RemoteVoices {
  const end = new AbortController();
  let voices: ReadonlyMap<string, readonly Voice[]> = new Map();
  let nextAt = 0;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const late = () => new EngineError('provider-timeout', 'The other service did not list its voices in time.');
    using deadline = startTimeout(askMs, late, end.signal);
    const answer = await provider.send({ method: 'GET', path: '/tts/models', retry: false }, deadline.signal);
    voices = readVoices(await readText(answer, longestList, deadline.signal));
  }

  async function renew(): Promise<void> {
    let waitMs = freshMs;
    try {
      await ask();
    } catch (err) {
      if (end.signal.aborted) return;
      log.debug({ err }, 'the other service does not list its voices');
      waitMs = retryMs;
    }
    nextAt = now() + waitMs;
    asking = undefined;
  }

  asking = renew();
  let waitForFirst: Promise<unknown> | undefined = Promise.race([
    asking,
    new Promise((resolve) => setTimeout(resolve, firstWaitMs).unref()),
  ]).then(() => (waitForFirst = undefined));
  return {
    of: (remoteId) => voices.get(remoteId),
    async refresh() {
      await waitForFirst;
      if (!end.signal.aborted && now() >= nextAt) asking ??= renew();
    },
    [Symbol.dispose]: () => end.abort(new Error('the engine has ended')),
  };
}

/** `{data: [{id, voices: [{id, name, language}]}]}`; anything that is not of this form is left out. */
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

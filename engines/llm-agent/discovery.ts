/** The provider's list of models: refreshed in the background, served from memory. */
import { EngineError, type EngineContext } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { readText } from '../lib/provider/transport.ts';

const timeoutMs = 5_000;
/** Maximum age of a list. After a failure the retry is much sooner: the provider may just be starting. */
const freshMs = 60_000;
const retryMs = 3_000;
/** How long a listing waits for the very first list, counted from the start. */
const firstWaitMs = 1_000;
const maxListBytes = 8 * 2 ** 20;
const maxModels = 1_000;
const maxIdLength = 256;

export interface Discovery extends Disposable {
  /** The latest list; kept when a refresh fails. */
  ids(): readonly string[];
  /** Starts a refresh if the list is old. Resolves immediately, but waits briefly for the first list. */
  refresh(): Promise<void>;
  /** Fetches the list now; rejects with an `EngineError`. */
  fetch(): Promise<readonly string[]>;
}

export interface DiscoveryOptions {
  readonly provider: Provider;
  readonly filter: readonly string[] | undefined;
  /** A provider on this machine may not be running; that is not worth a warning. */
  readonly isLoopback: boolean;
  readonly context: Pick<EngineContext, 'now' | 'log'>;
}

export function startDiscovery({ provider, filter, isLoopback, context }: DiscoveryOptions): Discovery {
  const { now, log } = context;
  const passes = createFilter(filter);
  const end = new AbortController();
  let ids: readonly string[] = [];
  let nextAt = 0;
  let renewing: Promise<void> | undefined;
  /** Outcome of the last refresh: only changes are logged. */
  let outcome: string | undefined;

  async function fetchIds(): Promise<readonly string[]> {
    const late = () => new EngineError('provider-timeout', 'Timeout: the provider did not list its models.');
    using deadline = startTimeout(timeoutMs, late, end.signal);
    const request = { method: 'GET', path: '/models', retry: false } as const;
    const answer = await provider.send(request, deadline.signal);
    return readIds(await readText(answer, maxListBytes, deadline.signal))
      .filter(passes)
      .slice(0, maxModels);
  }

  async function renew(): Promise<void> {
    let code = 'ready';
    try {
      ids = await fetchIds();
      if (outcome !== code) log.debug({ models: ids.length }, 'listed the models of the provider');
    } catch (err) {
      if (end.signal.aborted) return;
      code = EngineError.is(err) ? err.code : 'engine-failed';
      const level = isLoopback && ids.length === 0 ? 'debug' : 'warn';
      if (outcome !== code) log[level]({ err }, 'could not list the models of the provider');
    }
    outcome = code;
    nextAt = now() + (code === 'ready' ? freshMs : retryMs);
    renewing = undefined;
  }

  renewing = renew();
  const firstList = Promise.race([renewing, sleepFor(firstWaitMs, end.signal)]);
  return {
    ids: () => ids,
    fetch: fetchIds,
    async refresh() {
      await firstList;
      if (!end.signal.aborted && now() >= nextAt) renewing ??= renew();
    },
    [Symbol.dispose]: () => end.abort(new Error('the engine was disposed')),
  };
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** Throws for the list of another Parlance: it has models, but no chat completions under this path. */
export function refuseParlance(text: string): void {
  const list = parseObject(text);
  if (list === undefined || !('default' in list) || !objectsOf(list.data).some((entry) => 'engine' in entry)) return;
  const message = 'This is the API of another Parlance, which does not speak chat completions there.';
  throw new EngineError('provider-misconfigured', message);
}

/** `{data: [{id}]}`; `data` may be null if there are no models, and some servers send the bare array. */
function readIds(text: string): readonly string[] {
  refuseParlance(text);
  const list = text.trimStart().startsWith('[') ? parseObject(`{"data":${text}}`) : parseObject(text);
  if (list === undefined || !('data' in list)) {
    const cause = new Error('neither a list nor an object with data');
    throw new EngineError('provider-bad-response', 'The provider sent an invalid list of models.', { cause });
  }
  const ids = objectsOf(list.data).map(({ id }) => textOf(id));
  // eslint-disable-next-line no-control-regex
  return [...new Set(ids)].filter((id) => id !== '' && id.length <= maxIdLength && !/[\x00-\x1f\x7f]/.test(id));
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
export function createFilter(patterns: readonly string[] | undefined): (id: string) => boolean {
  if (patterns === undefined) return (id) => !notChat.test(id);
  const included = patterns.filter((pattern) => !pattern.startsWith('!')).map(toExpression);
  const excluded = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => toExpression(pattern.slice(1)));
  return (id) =>
    (included.length === 0 || included.some((one) => one.test(id))) && !excluded.some((one) => one.test(id));
}

function toExpression(pattern: string): RegExp {
  const literal = (part: string) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`);
}

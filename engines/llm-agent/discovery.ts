/** The provider's own list of models: asked for in the background, answered from memory. */
import { EngineError, type EngineContext } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { objectsOf, parseObject, textOf } from '../../lib/json.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { readText } from '../lib/provider/transport.ts';

const askMs = 5_000;
/** A list is asked for again when it is older, one that could not be had much sooner: the provider may just be starting. */
const freshMs = 60_000;
const retryMs = 3_000;
/** What a listing waits for the very first list, counted from the start. */
const firstWaitMs = 1_000;
const longestList = 8 * 2 ** 20;
const mostModels = 1_000;
const longestId = 256;

export interface Discovery extends Disposable {
  /** The latest list; it outlives a failure to renew it. */
  ids(): readonly string[];
  /** Asks again when the list is old. Resolves at once, but waits a moment for the first list. */
  refresh(): Promise<void>;
  /** Asks now; rejects with an `EngineError`. */
  ask(): Promise<readonly string[]>;
}

export interface DiscoveryOptions {
  readonly provider: Provider;
  readonly filter: readonly string[] | undefined;
  /** On this machine: nobody may have promised that it is there. */
  readonly isHere: boolean;
  readonly context: Pick<EngineContext, 'now' | 'log'>;
}

export function startDiscovery({ provider, filter, isHere, context }: DiscoveryOptions): Discovery {
  const { now, log } = context;
  const passes = createFilter(filter);
  const end = new AbortController();
  let ids: readonly string[] = [];
  let nextAt = 0;
  let asking: Promise<void> | undefined;
  /** How the last one ended, so that the log tells of changes alone. */
  let outcome: string | undefined;

  async function ask(): Promise<readonly string[]> {
    const late = () => new EngineError('provider-timeout', 'The provider did not list its models in time.');
    using deadline = startTimeout(askMs, late, end.signal);
    const request = { method: 'GET', path: '/models', retry: false } as const;
    const answer = await provider.send(request, deadline.signal);
    return readIds(await readText(answer, longestList, deadline.signal))
      .filter(passes)
      .slice(0, mostModels);
  }

  async function renew(): Promise<void> {
    let code = 'ready';
    try {
      ids = await ask();
      if (outcome !== code) log.debug({ models: ids.length }, 'the provider lists its models');
    } catch (err) {
      if (end.signal.aborted) return;
      code = EngineError.is(err) ? err.code : 'engine-failed';
      const level = isHere && ids.length === 0 ? 'debug' : 'warn';
      if (outcome !== code) log[level]({ err }, 'the provider does not list its models');
    }
    outcome = code;
    nextAt = now() + (code === 'ready' ? freshMs : retryMs);
    asking = undefined;
  }

  asking = renew();
  const firstList = Promise.race([asking, sleepFor(firstWaitMs, end.signal)]);
  return {
    ids: () => ids,
    ask,
    async refresh() {
      await firstList;
      if (!end.signal.aborted && now() >= nextAt) asking ??= renew();
    },
    [Symbol.dispose]: () => end.abort(new Error('the engine has ended')),
  };
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** `{data: [{id}]}`; of a server without models, data may be null; some answer with the bare list. */
function readIds(text: string): readonly string[] {
  const list = text.trimStart().startsWith('[') ? parseObject(`{"data":${text}}`) : parseObject(text);
  if (list === undefined || !('data' in list)) {
    const cause = new Error('neither a list nor an object with data');
    throw new EngineError('provider-bad-response', 'The provider did not answer with a list of models.', { cause });
  }
  const ids = objectsOf(list.data).map(({ id }) => textOf(id));
  // eslint-disable-next-line no-control-regex
  return [...new Set(ids)].filter((id) => id !== '' && id.length <= longestId && !/[\x00-\x1f\x7f]/.test(id));
}

/**
 * What is no model for a chat, by its name: a provider's list has everything, tells no kinds, and may begin with one of
 * these. Of OpenAI, Google, Groq, Mistral and Ollama.
 */
const otherKinds =
  /embed|rerank|whisper|transcri|\btts\b|gpt-(\S*-)?audio|realtime|moderation|dall-e|gpt-image|imagen|\b(sora|veo)\b|babbage|davinci/i;

/**
 * Patterns are ids in which * stands for anything; those with "!" before them take out. Without patterns, what is no
 * model for a chat is out.
 */
export function createFilter(patterns: readonly string[] | undefined): (id: string) => boolean {
  if (patterns === undefined) return (id) => !otherKinds.test(id);
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(toExpression);
  const unwanted = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => toExpression(pattern.slice(1)));
  return (id) => (wanted.length === 0 || wanted.some((one) => one.test(id))) && !unwanted.some((one) => one.test(id));
}

function toExpression(pattern: string): RegExp {
  const literal = (part: string) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`);
}

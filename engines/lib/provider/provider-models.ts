/**
 * Publishes the models of a provider with their availability as observed in past calls, and refreshes the provider's
 * lists in the background, so that listing models never waits for the provider.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineContext, EngineError, ModelEntry } from '../../contract/index.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import type { Provider } from './provider.ts';

/** Age in milliseconds at which a list is fetched again. On this machine, people install models and expect to see them. */
const freshMs = { here: 30_000, elsewhere: 300_000 };
/**
 * The wait after a failure, in milliseconds: short at first, because the provider may be starting, then doubled up to
 * `longest`.
 */
const retryMs = { first: 5_000, longest: { here: 5_000, elsewhere: 60_000 } };
/** How long startup waits for the first list, in milliseconds. */
const firstWaitMs = 1_000;

interface ProviderModelsOptions {
  readonly provider: Provider;
  /** The entries as far as they are known, without their availability. */
  readonly entries: () => readonly ModelEntry[];
  /** Fetches the data that the entries depend on. Absent if they depend on none. */
  readonly fetch?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onFailure: (error: unknown) => void;
  /** Returns why the models are not known; undefined if they are. */
  readonly failure?: () => EngineError | undefined;
}

export interface ProviderModels extends Disposable {
  /** The entries at the time of opening. */
  readonly models: readonly ModelEntry[];
  /** Publishes the entries. Fetches the list if it is outdated, without waiting for the result. */
  readonly recheck: () => Promise<void>;
}

export async function openProviderModels(
  { provider, fetch, onFailure, failure, ...options }: ProviderModelsOptions,
  { publish, now }: Pick<EngineContext, 'publish' | 'now'>,
): Promise<ProviderModels> {
  const end = new AbortController();
  const { signal } = end;
  const place = isLoopback(new URL(provider.baseUrl).hostname) ? 'here' : 'elsewhere';
  let waitMs = retryMs.first;
  let nextAt = 0;
  let running: Promise<void> | undefined;

  function entries(): readonly ModelEntry[] {
    return options.entries().map((entry) => {
      const availability = provider.availability(entry.id);
      return availability ? { ...entry, availability } : entry;
    });
  }

  async function run(look: NonNullable<typeof fetch>): Promise<void> {
    try {
      await look(signal);
      nextAt = now() + freshMs[place];
      waitMs = retryMs.first;
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      nextAt = now() + waitMs;
      waitMs = Math.min(2 * waitMs, retryMs.longest[place]);
    }
    running = undefined;
    publish(entries(), failure?.());
  }

  if (fetch) {
    running = run(fetch);
    await Promise.race([running, sleep(firstWaitMs, undefined, { ref: false })]);
  }

  return {
    models: entries(),
    // eslint-disable-next-line @typescript-eslint/require-await -- async, so that errors reject
    async recheck() {
      if (fetch && !signal.aborted && now() >= nextAt) running ??= run(fetch);
      publish(entries(), failure?.());
    },
    [Symbol.dispose]: () => end.abort(new Error('the engine was disposed')),
  };
}

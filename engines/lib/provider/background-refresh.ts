/** A list of a provider: fetched in the background, served from memory. */
import { EngineError, type EngineContext } from '../../contract/index.ts';
import { onAbort, startTimeout } from '../../../lib/abort.ts';
import { addressOf, isClosedEarly } from './connection-failures.ts';
import { isPage, schemeError, unexpected } from './failures.ts';
import type { Provider, ProviderRequest } from './provider.ts';
import { speaksTls } from './speaks-tls.ts';
import { readText } from './transport.ts';

const listTimeoutMs = 5_000;
const maxListBytes = 8 * 2 ** 20;
/** Maximum age in milliseconds. After a failure the retry is much sooner, because the provider may just be starting. */
const freshMs = 60_000;
const retryMs = 3_000;

/**
 * Requests a URL that is free of charge, without retries, and resolves with the body. Rejects with an `EngineError` or
 * the signal's reason.
 */
export async function fetchList(
  provider: Provider,
  request: Pick<ProviderRequest, 'path' | 'explain' | 'countsForHealth'>,
  ...signals: readonly AbortSignal[]
): Promise<string> {
  const forOperator = `${addressOf(provider.baseUrl)} did not answer within ${listTimeoutMs / 1_000} s. Check the base URL.`;
  const late = () =>
    new EngineError('provider-timeout', 'Timeout: the provider did not list its models.', { forOperator });
  using timeout = startTimeout(listTimeoutMs, late, ...signals);
  try {
    const answer = await provider.send({ ...request, method: 'GET', retry: false }, timeout.signal);
    return await readText(answer, maxListBytes, timeout.signal);
  } catch (error) {
    throw (await expectsTls(error, provider)) ? schemeError('https', provider.baseUrl, error) : error;
  }
}

/** Path of the list of models, which nearly every provider has. */
export const listPath = '/models';

/** Requests the list of models as `fetchList` does. Rejects for a page. */
export async function fetchModelList(
  provider: Provider,
  request: Pick<ProviderRequest, 'explain'> = {},
  ...signals: readonly AbortSignal[]
): Promise<string> {
  const text = await fetchList(provider, { ...request, path: listPath }, ...signals);
  if (!isPage(text)) return text;
  throw unexpected('The provider sent no list.', text, provider.outline(text), provider.baseUrlHint(listPath));
}

/** Whether a TLS server closed the connection because the base URL begins with http:. */
async function expectsTls(error: unknown, { baseUrl }: Provider): Promise<boolean> {
  return EngineError.is(error) && isClosedEarly(error) && baseUrl.startsWith('http:') && (await speaksTls(baseUrl));
}

export interface BackgroundRefreshOptions {
  /** Called with the result. */
  readonly fetch: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  readonly now: EngineContext['now'];
  /** How long `refresh` waits for the very first fetch, in milliseconds from the start. */
  readonly firstWaitMs: number;
}

export interface BackgroundRefresh extends Disposable {
  /** Aborts when it is disposed of. */
  readonly signal: AbortSignal;
  /** Starts a fetch if the last one is old. Resolves immediately, but waits briefly for the first one. */
  refresh(): Promise<void>;
}

/** Starts the first fetch. */
export function refreshInBackground(options: BackgroundRefreshOptions): BackgroundRefresh {
  const { fetch, onFailure, now, firstWaitMs } = options;
  const end = new AbortController();
  const { signal } = end;
  let nextAt = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    let waitMs = freshMs;
    try {
      await fetch(signal);
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      waitMs = retryMs;
    }
    nextAt = now() + waitMs;
    running = undefined;
  }

  running = run();
  const first = Promise.race([running, sleepFor(firstWaitMs, signal)]);
  return {
    signal,
    async refresh() {
      await first;
      if (!signal.aborted && now() >= nextAt) running ??= run();
    },
    [Symbol.dispose]: () => end.abort(new Error('the engine was disposed')),
  };
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    onAbort(signal, () => (clearTimeout(timer), resolve()));
  });
}

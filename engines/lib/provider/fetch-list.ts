/** Fetches a list from a provider, such as its model list. */
import { EngineError } from '../../contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import { addressOf, isClosedEarly } from './connection-failures.ts';
import { isPage, schemeError, unexpected } from './failures.ts';
import type { Provider, ProviderRequest } from './provider.ts';
import { speaksTls } from './speaks-tls.ts';
import { readText } from './transport.ts';

const listTimeoutMs = 5_000;
const maxListBytes = 8 * 2 ** 20;

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

/** Requests the list of models as `fetchList` does. Rejects if the response is an HTML page. */
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

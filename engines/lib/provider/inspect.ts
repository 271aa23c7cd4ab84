/** Checks a provider for `npm run doctor`: requests its list of models, which is free of charge. */
import { EngineError, type Finding } from '../../contract/index.ts';
import { baseUrlFix } from './base-url.ts';
import { fetchList, fetchModelList, listPath } from './fetch-list.ts';
import type { ProviderOptions } from './options.ts';
import type { Provider } from './provider.ts';

/** Statuses of a provider that is reachable but has no list of models, or none for this key. */
const withoutList = new Set([403, 404, 405]);

/** `path`: the path of the endpoint, which may begin with the version if the base URL lacks it. */
export async function inspectProvider(
  options: ProviderOptions & { readonly path?: string },
  instance: string,
  provider: Provider,
): Promise<Finding> {
  const finding = describeProvider(options, instance);
  if (!finding.ok) return finding;
  try {
    return describeAnswer(finding, await askForList(provider, options.path));
  } catch (error) {
    return describeFailure(finding, error);
  }
}

/** Uses only the settings, without a request. */
export function describeProvider({ apiKey, baseUrl }: ProviderOptions, instance: string): Finding {
  const what = `provider ${instance}`;
  if (apiKey === '') return { what, ok: false, detail: `${baseUrl}, apiKey is empty` };
  return { what, ok: true, detail: `${baseUrl}, ${apiKey === undefined ? 'without a key' : 'with a key'}` };
}

/** `list` is undefined if the provider has none. */
export function describeAnswer(finding: Finding, list: unknown): Finding {
  const state = list === undefined ? 'answers, but has no list of models: the key could not be checked' : 'answers';
  return { ...finding, detail: `${finding.detail}, ${state}` };
}

/** Describes a failure of the provider. Throws any other error. */
export function describeFailure(finding: Finding, error: unknown): Finding {
  if (!EngineError.is(error)) throw error;
  const { message, forOperator = '' } = error;
  return { ...finding, ok: false, detail: `${finding.detail}: ${message} ${forOperator}`.trimEnd() };
}

/** Resolves with the list of models as text, or with undefined if the provider has none, or none for this key. */
export async function askForList(provider: Provider, endpoint?: string): Promise<string | undefined> {
  let status = 0;
  const explain = (refusal: { status: number }) => ((status = refusal.status), undefined);
  try {
    return await fetchModelList(provider, { explain });
  } catch (error) {
    if (!withoutList.has(status) || (status !== 403 && (await isMisplaced(provider, endpoint)))) throw error;
    return undefined;
  }
}

/** Returns whether a provider without a list at this path has its API at another base URL. */
async function isMisplaced(provider: Provider, endpoint = listPath): Promise<boolean> {
  const fix = baseUrlFix(provider.baseUrl, endpoint);
  if (!fix || fix.isCertain) return fix !== undefined;
  return fetchList(provider, { path: `/v1${listPath}`, countsForHealth: false }).then(
    () => true,
    () => false,
  );
}

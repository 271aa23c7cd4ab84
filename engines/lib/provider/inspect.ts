/** Checks a provider for `npm run doctor`: requests its list of models, which is free of charge. */
import { EngineError, type Finding } from '../../contract/index.ts';
import { fetchList } from './background-refresh.ts';
import type { ProviderOptions } from './options.ts';
import type { Provider } from './provider.ts';

/** Statuses of a provider that is reachable but has no list of models, or none for this key. */
const withoutList = new Set([403, 404, 405]);

export async function inspectProvider(
  options: ProviderOptions,
  instance: string,
  provider: Provider,
  checkList?: CheckList,
): Promise<Finding> {
  const finding = describeProvider(options, instance);
  if (!finding.ok) return finding;
  try {
    return { ...finding, detail: `${finding.detail}, ${await ask(provider, checkList)}` };
  } catch (error) {
    return describeFailure(finding, error);
  }
}

/** Checks the list of models as text. Throws an `EngineError` if this engine cannot work with such a provider. */
type CheckList = (text: string) => void;

/** Uses only the settings, without a request. */
export function describeProvider({ apiKey, baseUrl }: ProviderOptions, instance: string): Finding {
  const what = `provider ${instance}`;
  if (apiKey === '') return { what, ok: false, detail: `${baseUrl}, apiKey is empty` };
  return { what, ok: true, detail: `${baseUrl}, ${apiKey === undefined ? 'without a key' : 'with a key'}` };
}

/** Describes a failure of the provider. Throws any other error. */
export function describeFailure(finding: Finding, error: unknown): Finding {
  if (!EngineError.is(error)) throw error;
  const { message, forOperator = '' } = error;
  return { ...finding, ok: false, detail: `${finding.detail}: ${message} ${forOperator}`.trimEnd() };
}

async function ask(provider: Provider, checkList?: CheckList): Promise<string> {
  let refusedWith = 0;
  const explain = ({ status }: { status: number }) => ((refusedWith = status), undefined);
  try {
    const list = await fetchList(provider, { path: '/models', explain });
    checkList?.(list);
    return 'answers';
  } catch (error) {
    if (!withoutList.has(refusedWith)) throw error;
    return 'answers, but has no list of models: the key could not be checked';
  }
}

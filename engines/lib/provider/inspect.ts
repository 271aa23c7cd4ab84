/** What `npm run doctor` says of a provider: it is asked for its list of models, which costs nothing. */
import { EngineError, type Finding } from '../../contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import type { ProviderOptions } from './options.ts';
import type { Provider } from './provider.ts';

const askMs = 5_000;

/** Of a provider that is there, but has no list, or none for this key. */
const withoutList = new Set([403, 404, 405]);

export async function inspectProvider(
  options: ProviderOptions,
  instance: string,
  provider: Provider,
): Promise<Finding> {
  const finding = describeProvider(options, instance);
  if (!finding.ok) return finding;
  try {
    return { ...finding, detail: `${finding.detail}, ${await ask(provider)}` };
  } catch (error) {
    return describeFailure(finding, error);
  }
}

/** By the settings alone. */
export function describeProvider({ apiKey, baseUrl }: ProviderOptions, instance: string): Finding {
  const what = `provider ${instance}`;
  if (apiKey === '') return { what, ok: false, detail: `${baseUrl}, its apiKey is empty` };
  return { what, ok: true, detail: `${baseUrl}, ${apiKey === undefined ? 'without a key' : 'with a key'}` };
}

export function describeFailure(finding: Finding, error: unknown): Finding {
  if (!EngineError.is(error)) throw error;
  const fix = error.code === 'provider-unreachable' && { fix: 'start it there, or name another one' };
  return { ...finding, ok: false, detail: `${finding.detail}: ${error.message}`, ...fix };
}

async function ask(provider: Provider): Promise<string> {
  const late = () => new EngineError('provider-timeout', 'The provider did not list its models in time.');
  using deadline = startTimeout(askMs, late);
  let refusedWith = 0;
  const explain = ({ status }: { status: number }) => ((refusedWith = status), undefined);
  const request = { method: 'GET', path: '/models', retry: false, explain } as const;
  try {
    const { body } = await provider.send(request, deadline.signal);
    body.on('error', () => undefined).destroy(); // what stands in it does not matter
    return 'answers';
  } catch (error) {
    if (!withoutList.has(refusedWith)) throw error;
    return 'answers, but without a list of models: whether it takes the key is not known';
  }
}

/** What `npm run doctor` says of a provider that is not asked for it. */
import type { Finding } from '../contract.ts';
import type { ProviderOptions } from './provider-options.ts';

export function inspectProvider({ apiKey, baseUrl }: ProviderOptions, instance: string): Finding {
  const what = `provider ${instance}`;
  if (apiKey === '') return { what, ok: false, detail: `${baseUrl}, its apiKey is empty` };
  return { what, ok: true, detail: `${baseUrl}, ${apiKey === undefined ? 'without a key' : 'with a key'}` };
}

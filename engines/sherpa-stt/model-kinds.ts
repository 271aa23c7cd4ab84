/** The supported kinds of models. A further kind needs a file such as nemo-ctc.ts and a line here. */
import type { ModelFiles } from './model-facts.ts';
import { rememberNemoCtc } from './nemo-ctc.ts';

/** The kinds by name. Each checks the files in a folder, again only if they have changed. */
export const modelKinds = { 'nemo-ctc': rememberNemoCtc } as const satisfies Record<
  string,
  (folder: string) => () => Promise<ModelFiles>
>;

export type ModelKind = keyof typeof modelKinds;

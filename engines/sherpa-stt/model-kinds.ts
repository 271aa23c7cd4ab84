/** The supported kinds of models. To add a kind, add a file such as nemo-ctc.ts and a line here. */
import type { ModelFiles } from './model-facts.ts';
import { rememberNemoCtc } from './nemo-ctc.ts';

/** Maps each kind to a function that checks the files in a folder, again only if they have changed. */
export const modelKinds = { 'nemo-ctc': rememberNemoCtc } as const satisfies Record<
  string,
  (folder: string) => () => Promise<ModelFiles>
>;

export type ModelKind = keyof typeof modelKinds;

/** The kinds of models that can be served. A further kind is a file like nemo-ctc.ts and a line here. */
import type { ModelFiles } from './model-facts.ts';
import { rememberNemoCtc } from './nemo-ctc.ts';

/** By kind: judges the files in a folder, again only when they have changed. */
export const modelKinds = { 'nemo-ctc': rememberNemoCtc } as const satisfies Record<
  string,
  (folder: string) => () => Promise<ModelFiles>
>;

export type ModelKind = keyof typeof modelKinds;

import type { Judged } from '../lib/model-files.ts';

export interface ModelFacts {
  /** Path of the weights. */
  readonly file: string;
  readonly bytes: number;
  /** `modelConfig` of sherpa-onnx. */
  readonly config: Readonly<Record<string, unknown>>;
  /** True if its tokens mark where words begin. Otherwise, each token is a word, as in Chinese. */
  readonly marksWords: boolean;
}

export type ModelFiles = Judged<ModelFacts>;
export type UsableModel = Extract<ModelFiles, { readonly ok: true }>;

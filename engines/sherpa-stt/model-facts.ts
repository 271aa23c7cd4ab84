import type { Judged } from '../lib/model-files.ts';

export interface ModelFacts {
  /** The weights. */
  readonly file: string;
  readonly bytes: number;
  /** sherpa-onnx's `modelConfig`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Whether its tokens mark where words begin. If not, each token is a word, as in Chinese. */
  readonly marksWords: boolean;
}

export type ModelFiles = Judged<ModelFacts>;
export type UsableModel = Extract<ModelFiles, { readonly ok: true }>;

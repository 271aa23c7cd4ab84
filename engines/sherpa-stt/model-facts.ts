import type { Judged } from '../lib/model-files.ts';

export interface ModelFacts {
  /** Path of the first model in the folder. */
  readonly file: string;
  /** Total size of the models in bytes. */
  readonly bytes: number;
  /** `modelConfig` of sherpa-onnx. */
  readonly config: Readonly<Record<string, unknown>>;
  /** True if its tokens mark where words begin. Otherwise, each token is a word, as in Chinese. */
  readonly marksWords: boolean;
  /** True if the library reports when each token begins. */
  readonly hasTimes: boolean;
  /** Length of the longest piece that it transcribes well, in seconds. */
  readonly pieceSeconds: number;
  /** The languages that it transcribes; absent if the files do not say. */
  readonly languages?: readonly string[];
  /**
   * The member of `config` whose `language` is set to the language of a request. Other models detect the language
   * themselves.
   */
  readonly hint?: string;
}

export type ModelFiles = Judged<ModelFacts>;
export type UsableModel = Extract<ModelFiles, { readonly ok: true }>;

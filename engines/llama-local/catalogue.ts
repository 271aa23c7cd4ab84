/** Models that can be downloaded. Their digests were found alike in several independent public repositories. */
import { join } from 'node:path';
import type { EngineContext, FilesAsset } from '../contract/index.ts';

interface CatalogueModel {
  /** Repository on huggingface.co. */
  readonly repository: string;
  readonly revision: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly licence: string;
  readonly name: string;
}

/** Its name in `npm run setup -- chat`. */
export const part = 'chat';

const catalogue: Readonly<Record<string, CatalogueModel>> = {
  'qwen3-0.6b': {
    repository: 'Qwen/Qwen3-0.6B-GGUF',
    revision: '23749fefcc72300e3a2ad315e1317431b06b590a',
    file: 'Qwen3-0.6B-Q8_0.gguf',
    bytes: 639_446_688,
    sha256: '9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031',
    licence: 'Apache-2.0',
    name: 'Qwen3 0.6B',
  },
};

export const catalogueIds = Object.keys(catalogue);

export const findInCatalogue = (id: string): CatalogueModel | undefined =>
  Object.hasOwn(catalogue, id) ? catalogue[id] : undefined;

/** Where a model is downloaded to. */
export const downloadedModelPath = ({ dataDir }: Pick<EngineContext, 'dataDir'>, { file }: CatalogueModel): string =>
  join(dataDir, 'models', file);

const source = 'https://huggingface.co';

/** `isReady`: whether it is there. */
export function modelAsset(
  id: string,
  model: CatalogueModel,
  path: string,
  { mirror = source, isReady }: { readonly mirror?: string | undefined; readonly isReady: () => Promise<boolean> },
): FilesAsset {
  const { repository, revision, file, bytes, sha256: digest, licence, name: title } = model;
  const url = `${mirror.replace(/\/+$/, '')}/${repository}/resolve/${revision}/${file}`;
  return { kind: 'files', id, title, bytes, licence, files: [{ url, path, bytes, digest }], isReady };
}

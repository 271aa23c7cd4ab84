import { join } from 'node:path';

/** Default base URL of model downloads, unless the settings name a mirror. */
export const modelSource = 'https://huggingface.co/ggerganov/whisper.cpp/resolve/main';

const MiB = 2 ** 20;

interface CatalogueEntry {
  /** SHA-1 of the file in hex, as published upstream. */
  readonly sha1: string;
  /** Rounded, as published upstream. */
  readonly sizeMiB: number;
}

/**
 * Models that can be downloaded: a part of upstream's list. The digests are those of its download script, found alike in
 * several independent public repositories.
 */
export const catalogue = {
  tiny: { sha1: 'bd577a113a864445d4c299885e0cb97d4ba92b5f', sizeMiB: 75 },
  base: { sha1: '465707469ff3a37a2b9b8d8f89f2f99de7299dac', sizeMiB: 142 },
  'base.en': { sha1: '137c40403d78fd54d454da0f9bd998f78703390c', sizeMiB: 142 },
  small: { sha1: '55356645c2b361a969dfd0ef2c5a50d530afd8d5', sizeMiB: 466 },
  'large-v3-turbo': { sha1: '4af2b29d7ec73d781377bfd1758ca957a807e941', sizeMiB: 1_550 },
  'large-v3-turbo-q5_0': { sha1: 'e050f7970618a659205450ad97eb95a18d69c9ee', sizeMiB: 547 },
} as const satisfies Record<string, CatalogueEntry>;

export type ModelName = keyof typeof catalogue;

export const modelNames = Object.keys(catalogue) as readonly ModelName[];

export function isModelName(name: string): name is ModelName {
  return Object.hasOwn(catalogue, name);
}

export function modelFileName(name: ModelName): string {
  return `ggml-${name}.bin`;
}

/** Where a model is downloaded to. */
export function downloadedModelPath(dataDir: string, name: ModelName): string {
  return join(dataDir, 'models', modelFileName(name));
}

/** Upper bound of the file size: upstream rounds to whole MiB, so one more is safe. */
export function maxModelBytes(name: ModelName): number {
  return (catalogue[name].sizeMiB + 1) * MiB;
}

export const titleOf = (name: ModelName): string => `Whisper ${name}`;

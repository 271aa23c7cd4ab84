import { Catalogue, type CatalogueModel } from '../lib/catalogue.ts';

/** The digest is from upstream's download script, and the same in several independent public repositories. */
function whisper(name: string, sizeMiB: number, digest: string): CatalogueModel {
  return {
    title: `Whisper ${name}`,
    license: 'MIT',
    files: [{ path: `ggml-${name}.bin`, bytes: sizeMiB * 2 ** 20, digest }],
  };
}

/** A subset of upstream's models. */
export const catalogue = new Catalogue('https://huggingface.co/ggerganov/whisper.cpp/resolve/main', 'models', {
  tiny: whisper('tiny', 75, 'bd577a113a864445d4c299885e0cb97d4ba92b5f'),
  base: whisper('base', 142, '465707469ff3a37a2b9b8d8f89f2f99de7299dac'),
  'base.en': whisper('base.en', 142, '137c40403d78fd54d454da0f9bd998f78703390c'),
  small: whisper('small', 466, '55356645c2b361a969dfd0ef2c5a50d530afd8d5'),
  'large-v3-turbo': whisper('large-v3-turbo', 1_550, '4af2b29d7ec73d781377bfd1758ca957a807e941'),
  'large-v3-turbo-q5_0': whisper('large-v3-turbo-q5_0', 547, 'e050f7970618a659205450ad97eb95a18d69c9ee'),
});

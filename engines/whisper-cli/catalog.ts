import { Catalog, type CatalogModel } from '../lib/catalog.ts';

interface Whisper {
  readonly mebibytes: number;
  readonly digest: string;
  /** The title for people, which omits the model's name. */
  readonly label: string;
  readonly purpose: string;
}

/** The digest is from upstream's download script, and the same in several independent public repositories. */
function whisper(name: string, { mebibytes, digest, label, purpose }: Whisper): CatalogModel {
  const title = `Whisper ${name}`;
  return {
    title,
    label: `${label} (${title})`,
    purpose,
    license: 'MIT',
    files: [{ path: `ggml-${name}.bin`, bytes: mebibytes * 2 ** 20, digest }],
  };
}

/** A subset of upstream's models. */
export const catalog = new Catalog('https://huggingface.co/ggerganov/whisper.cpp/resolve/main', 'models', {
  tiny: whisper('tiny', {
    mebibytes: 75,
    digest: 'bd577a113a864445d4c299885e0cb97d4ba92b5f',
    label: 'Quick transcription',
    purpose: 'Good for short commands on slow machines; it makes the most mistakes.',
  }),
  base: whisper('base', {
    mebibytes: 142,
    digest: '465707469ff3a37a2b9b8d8f89f2f99de7299dac',
    label: 'Everyday transcription',
    purpose: 'Good for dictation in many languages on most machines.',
  }),
  'base.en': whisper('base.en', {
    mebibytes: 142,
    digest: '137c40403d78fd54d454da0f9bd998f78703390c',
    label: 'English transcription',
    purpose: 'Good for dictation in English; it knows no other language.',
  }),
  small: whisper('small', {
    mebibytes: 466,
    digest: '55356645c2b361a969dfd0ef2c5a50d530afd8d5',
    label: 'Careful transcription',
    purpose: 'Good for accents, noise and languages other than English; slower.',
  }),
  'large-v3-turbo': whisper('large-v3-turbo', {
    mebibytes: 1_550,
    digest: '4af2b29d7ec73d781377bfd1758ca957a807e941',
    label: 'Best transcription',
    purpose: 'Good for the fewest mistakes; it needs a fast machine.',
  }),
  'large-v3-turbo-q5_0': whisper('large-v3-turbo-q5_0', {
    mebibytes: 547,
    digest: 'e050f7970618a659205450ad97eb95a18d69c9ee',
    label: 'Best transcription, smaller',
    purpose: 'Good for few mistakes with less memory; it needs a fast machine.',
  }),
});

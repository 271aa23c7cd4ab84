/**
 * Voices that can be downloaded. The model cards of these Piper voices say that they were trained from scratch on
 * recordings that may be used for any purpose. Most others were fine-tuned from `lessac` or `ryan`, whose recordings
 * may not be used commercially.
 */
import { Catalog, type CatalogModel } from '../lib/catalog.ts';

/** Id of the engine's asset group: `npm run setup -- voice`. */
export const part = 'voice';

/** A commit of the repository rhasspy/piper-voices. */
const revision = 'c10ece1aade47bb51c153c893d14e5bf8e5b7117';

interface Voice extends Pick<CatalogModel, 'title' | 'label' | 'purpose'> {
  readonly model: { readonly bytes: number; readonly digest: string };
  /** The .onnx.json. */
  readonly config: { readonly bytes: number; readonly digest: string };
  /** License of the recordings. */
  readonly license: string;
}

function piper(id: string, { model, config, ...more }: Voice): CatalogModel {
  const [locale = '', dataset, quality] = id.split('-');
  const folder = [locale.split('_')[0], locale, dataset, quality].join('/');
  const path = `rhasspy/piper-voices/resolve/${revision}/${folder}/${id}.onnx`;
  return {
    ...more,
    files: [
      { path: `${path}.json`, ...config },
      { path, ...model },
    ],
  };
}

/** Several independent projects have the same digests for this commit. The lexicons are not needed. */
const kokoro: CatalogModel = {
  label: 'Kokoro (41 voices)',
  purpose: 'Good for natural speech in six languages; it needs a fast machine.',
  license: 'Apache-2.0',
  hasFolder: true,
  files: [
    { name: 'tokens.txt', bytes: 687, digest: '6ebb6bb288f20f3ae8d004d3c2ca27697da27c037d75e81a60e2a6a663f95425' },
    {
      name: 'voices.bin',
      bytes: 28_200_960,
      digest: '1c5a5b983d3d50d8586d437a51f3faa2da7919ce76a013c081e65671a3447c29',
    },
    {
      name: 'model.onnx',
      bytes: 325_560_556,
      digest: 'b40f62b166ac8164b0627ef48a0b358eda0985e272fb03ef5252e7206305da11',
    },
  ].map(({ name, ...file }) => {
    const commit = 'f7b96bb6bef5c5da4d3aa4f4e0498fbbf62dc78b';
    return { path: `csukuangfj/kokoro-multi-lang-v1_0/resolve/${commit}/${name}`, ...file };
  }),
};

/** A voice without a title has several speakers, whose names are in its files. */
export const catalog = new Catalog('https://huggingface.co', 'voices', {
  'en_US-ljspeech-medium': piper('en_US-ljspeech-medium', {
    model: { bytes: 63_531_379, digest: '6f52a751e2349abe7a76735eb09dc1875298c77ea2342ffd2fef79ff81b87f22' },
    config: { bytes: 4_972, digest: '141d612cc0a95ed7efc1ca936b845c2364967f2e9217c5dbfcf69fc4d6c65860' },
    license: 'public domain',
    title: 'English voice (female, clear)',
    purpose: 'Good for fast American English.',
  }),
  'de_DE-mls-medium': piper('de_DE-mls-medium', {
    model: { bytes: 76_961_079, digest: '69cd1d2aa5a35839a518966fcc4924b5f93e5f8c948ed0752b1a616ad53f65bf' },
    config: { bytes: 8_948, digest: 'b0af1c89ddfdc72d32e015729b0e89b99eec13c2c8caa1db7488d98e9e570b40' },
    license: 'CC-BY-4.0',
    label: 'German voices (236 speakers)',
    purpose: 'Good for fast German, with a voice for every taste.',
  }),
  'fr_FR-mls-medium': piper('fr_FR-mls-medium', {
    model: { bytes: 76_733_750, digest: '0ed223f78466917f2bae05ee90096ce69ab1fdeb251f55590d0e7422d234e162' },
    config: { bytes: 7_036, digest: '252b0b0a6e4cc4949e23eccb956f9c779986c32f934f2f7e2191e5fdc2edca61' },
    license: 'CC-BY-4.0',
    label: 'French voices (125 speakers)',
    purpose: 'Good for fast French, with a voice for every taste.',
  }),
  'es_ES-carlfm-x_low': piper('es_ES-carlfm-x_low', {
    model: { bytes: 28_130_791, digest: 'd69677323a907cd4963f42b29c20a98b5d6bfa7f3e64df339915e4650c00d125' },
    config: { bytes: 4_159, digest: 'd9bdfa9ff01eb2bc9e62e7d2593939d1e4c4d8eb7cf75f972731539d12399966' },
    license: 'public domain',
    title: 'Spanish voice (male, small)',
    purpose: 'Good for European Spanish on slow machines; it sounds less clear.',
  }),
  kokoro,
});

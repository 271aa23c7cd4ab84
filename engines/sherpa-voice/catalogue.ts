/**
 * Piper voices that can be downloaded. Only voices whose model card says that they were trained from scratch, with recordings
 * that may be used for everything: most others began as `lessac` or `ryan`, whose recordings forbid commercial use.
 */
import { join } from 'node:path';
import type { EngineContext, FilesAsset } from '../contract/index.ts';

export interface CatalogueVoice {
  readonly model: CatalogueFile;
  /** The .onnx.json. */
  readonly config: CatalogueFile;
  /** Licence of the recordings. */
  readonly licence: string;
  /** How the voice is listed before it is there. Absent: it has several speakers, whose names are in its .onnx.json. */
  readonly name?: string;
}

export interface CatalogueFile {
  readonly bytes: number;
  readonly sha256: string;
}

const catalogue: Readonly<Record<string, CatalogueVoice>> = {
  'en_US-ljspeech-medium': {
    model: { bytes: 63_531_379, sha256: '6f52a751e2349abe7a76735eb09dc1875298c77ea2342ffd2fef79ff81b87f22' },
    config: { bytes: 4_972, sha256: '141d612cc0a95ed7efc1ca936b845c2364967f2e9217c5dbfcf69fc4d6c65860' },
    licence: 'public domain',
    name: 'ljspeech (American English)',
  },
  'de_DE-mls-medium': {
    model: { bytes: 76_961_079, sha256: '69cd1d2aa5a35839a518966fcc4924b5f93e5f8c948ed0752b1a616ad53f65bf' },
    config: { bytes: 8_948, sha256: 'b0af1c89ddfdc72d32e015729b0e89b99eec13c2c8caa1db7488d98e9e570b40' },
    licence: 'CC-BY-4.0',
  },
  'fr_FR-mls-medium': {
    model: { bytes: 76_733_750, sha256: '0ed223f78466917f2bae05ee90096ce69ab1fdeb251f55590d0e7422d234e162' },
    config: { bytes: 7_036, sha256: '252b0b0a6e4cc4949e23eccb956f9c779986c32f934f2f7e2191e5fdc2edca61' },
    licence: 'CC-BY-4.0',
  },
  'es_ES-carlfm-x_low': {
    model: { bytes: 28_130_791, sha256: 'd69677323a907cd4963f42b29c20a98b5d6bfa7f3e64df339915e4650c00d125' },
    config: { bytes: 4_159, sha256: 'd9bdfa9ff01eb2bc9e62e7d2593939d1e4c4d8eb7cf75f972731539d12399966' },
    licence: 'public domain',
    name: 'carlfm (European Spanish)',
  },
};

export const catalogueIds = Object.keys(catalogue);

export const findInCatalogue = (id: string): CatalogueVoice | undefined =>
  Object.hasOwn(catalogue, id) ? catalogue[id] : undefined;

/** Where a voice is downloaded to. */
export const downloadedVoicePath = ({ dataDir }: Pick<EngineContext, 'dataDir'>, id: string): string =>
  join(dataDir, 'voices', `${id}.onnx`);

/** A commit of the repository rhasspy/piper-voices. */
const revision = 'c10ece1aade47bb51c153c893d14e5bf8e5b7117';

/** Default base URL of the downloads. */
export const voiceSource = 'https://huggingface.co';

/** URL of the .onnx below `source`; that of its .onnx.json has `.json` after it. */
export function voiceUrl(id: string, source: string): string {
  const [locale = '', dataset, quality] = id.split('-');
  const folder = [locale.split('_')[0], locale, dataset, quality].join('/');
  return `${source.replace(/\/+$/, '')}/rhasspy/piper-voices/resolve/${revision}/${folder}/${id}.onnx`;
}

/** The two files of a voice: the model at `path`, and its config beside it. */
export function voiceAsset(
  id: string,
  { licence, config, model, name = id }: CatalogueVoice,
  path: string,
  source = voiceSource,
): Omit<FilesAsset, 'isReady'> {
  const url = voiceUrl(id, source);
  const fileOf = (end: string, { bytes, sha256: digest }: CatalogueFile) => ({ url: url + end, path: path + end, bytes, digest }); // prettier-ignore
  const files = [fileOf('.json', config), fileOf('', model)];
  return { kind: 'files', id, title: name, bytes: model.bytes + config.bytes, licence, files };
}

/** Its name in `npm run setup -- voice`. */
export const part = 'voice';

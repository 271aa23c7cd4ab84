/** Judges a voice without loading it: a broken one would end the program that loads it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { readOnnxFile } from './onnx-file.ts';
import { readPiperConfig, sampleRateOf, type PiperConfig } from './piper-config.ts';
import { Unusable } from './unusable.ts';

export interface UsableVoice {
  readonly ok: true;
  readonly file: string;
  readonly bytes: number;
  /** Differs when the files have changed. */
  readonly stamp: string;
  /** As the library sees it: the model's own metadata go before the .onnx.json. */
  readonly config: PiperConfig;
  /** Keys of the model's own metadata. */
  readonly metadata: ReadonlySet<string>;
}

export type VoiceFile =
  | UsableVoice
  | {
      readonly ok: false;
      /** A sentence without a full stop that names the file. */
      readonly detail: string;
    };

/** Bytes: 75 MB above the file when it is loaded, and what the library keeps after 10 s of sound. */
export const needOf = ({ bytes }: UsableVoice): number => bytes + 475_000_000;

/** Looks at the files again only when they have changed. */
export function rememberVoiceFile(file: string): () => Promise<VoiceFile> {
  let seen: { readonly stamp: string; readonly found: VoiceFile } | undefined;
  return async () => {
    const stamp = await stampOf([file, `${file}.json`]);
    if (seen?.stamp !== stamp) seen = { stamp, found: inspectVoice(file, stamp) };
    return seen.found;
  };
}

async function stampOf(files: readonly string[]): Promise<string> {
  const parts = files.map((path) =>
    stat(path).then(
      ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
      () => 'missing',
    ),
  );
  return createHash('sha256').update(JSON.stringify([files, await Promise.all(parts)])).digest('hex'); // prettier-ignore
}

function inspectVoice(file: string, stamp: string): VoiceFile {
  const json = `${file}.json`;
  try {
    const { bytes, metadata } = explained(file, () => readOnnxFile(file));
    const published = explained(json, () => readPiperConfig(readFileSync(json, 'utf8')));
    const config = explained(file, () => withMetadata(published, metadata));
    return { ok: true, file, bytes, stamp, config, metadata: new Set(metadata.keys()) };
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
}

function explained<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${path} ${whatIsWrong(cause)}`, { cause });
  }
}

function whatIsWrong(error: unknown): string {
  if (error instanceof Unusable) return `is not usable: ${error.message}`;
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read';
    default:
      return `could not be read: ${messageOf(error)}`;
  }
}

/** Throws for a model of another kind, which would end the program, and for metadata that contradict the .onnx.json. */
function withMetadata(config: PiperConfig, metadata: ReadonlyMap<string, string>): PiperConfig {
  const [rate, speakers] = [metadata.get('sample_rate'), metadata.get('n_speakers')];
  if (rate === undefined) return config;
  if ((metadata.get('model_type') ?? 'vits') !== 'vits') throw new Unusable('its model_type is not vits');
  const isSpelled = metadata.get('frontend') === 'characters';
  if (!isSpelled && metadata.get('has_espeak') !== '1') throw new Unusable('it is not a voice of Piper');
  if (speakers !== undefined && Number(speakers) !== config.speakerCount)
    throw new Unusable(`it has ${speakers} speakers, its .onnx.json ${config.speakerCount}`);
  return { ...config, phonemes: isSpelled ? 'text' : 'espeak', sampleRate: sampleRateOf(rate) };
}

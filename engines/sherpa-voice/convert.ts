/**
 * Writes what sherpa-onnx needs beyond Piper's two files, tokens.txt and metadata in the model, to DATA_DIR/voices. The
 * operator's files are never changed.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { makeWholeDirectory } from '../lib/whole-directory.ts';
import type { PiperConfig } from './piper-config.ts';
import type { UsableVoice } from './voice-file.ts';

export interface ConvertedVoice {
  readonly model: string;
  readonly tokens: string;
  /** Options of ONNX Runtime. */
  readonly session: string;
}

/** ONNX Runtime keeps a memory plan for each length of a sentence: 604 MB after 60 lengths, 390 MB without the plans. */
const session = 'EnableMemPattern=0\n';

type Context = Pick<EngineContext, 'dataDir'>;

/** A directory is named by its voice and the state of its files. It appears when it is complete, and is never changed. */
export async function convertVoice(voice: UsableVoice, context: Context): Promise<ConvertedVoice> {
  const parent = join(context.dataDir, 'voices');
  const [name, state] = [`${basename(voice.file, '.onnx')}-${digest(voice.file)}-`, digest(voice.stamp)];
  const directory = join(parent, name + state);
  const metadata = metadataOf(voice.config);
  const isWhole = Object.keys(metadata).every((key) => voice.metadata.has(key));
  if (!existsSync(directory)) {
    await makeWholeDirectory(directory, async (path) => {
      await writeFile(join(path, 'tokens.txt'), tokensFile(voice.config));
      await writeFile(join(path, 'session.conf'), session);
      if (isWhole) return;
      await copyFile(voice.file, join(path, 'voice.onnx'));
      await appendFile(join(path, 'voice.onnx'), metadataFields(metadata));
    });
    await removeOthers(parent, name, name + state);
  }
  return {
    model: isWhole ? voice.file : join(directory, 'voice.onnx'),
    tokens: join(directory, 'tokens.txt'),
    session: join(directory, 'session.conf'),
  };
}

/** Deletes the conversions of a voice that is removed. */
export async function removeConversions(file: string, { dataDir }: Context): Promise<void> {
  const parent = join(dataDir, 'voices');
  if (existsSync(parent)) await removeOthers(parent, `${basename(file, '.onnx')}-${digest(file)}-`, '');
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Deletes the conversions of earlier files of the same voice. */
async function removeOthers(parent: string, prefix: string, kept: string): Promise<void> {
  const others = (await readdir(parent)).filter((name) => name.startsWith(prefix) && name !== kept);
  for (const name of others) await rm(join(parent, name), { recursive: true, force: true });
}

/** The metadata that the library reads from a VITS model. */
function metadataOf(config: PiperConfig): Readonly<Record<string, string | number>> {
  const { phonemes, sampleRate, speakerCount, espeakVoice, locale, tokens } = config;
  const common = { model_type: 'vits', language: locale, n_speakers: speakerCount, sample_rate: sampleRate };
  if (phonemes === 'espeak') return { ...common, comment: 'piper', voice: espeakVoice, has_espeak: 1 };
  const [pad = 0, begin = 0, end = 0] = ['_', '^', '$'].map((symbol) => tokens.get(symbol));
  const ids = { blank_id: pad, pad_id: pad, bos_id: begin, eos_id: end };
  return { ...common, comment: 'piper', frontend: 'characters', add_blank: 1, use_eos_bos: 1, ...ids };
}

const tokensFile = ({ tokens }: PiperConfig): string =>
  Array.from(tokens, ([symbol, id]) => `${symbol} ${id}\n`).join('');

/** Fields of a protobuf message may come in any order: appended to an ONNX file, these bytes are metadata of its model. */
function metadataFields(metadata: Readonly<Record<string, string | number>>): Buffer {
  const entries = Object.entries(metadata).map(([key, value]) =>
    field(14, Buffer.concat([text(1, key), text(2, value)])),
  );
  return Buffer.concat(entries);
}

const text = (number: number, value: string | number): Buffer => field(number, Buffer.from(String(value)));

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  return Buffer.from(value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
}

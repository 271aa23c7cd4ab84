/** Writes what sherpa-onnx needs beyond the files of a voice to DATA_DIR/voices. The operator's files are never changed. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { makeWholeDirectory } from '../lib/whole-directory.ts';
import type { UsableVoice } from './voice-facts.ts';

export interface ConvertedVoice {
  /** The configuration of its family. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Path of a file with options of ONNX Runtime. */
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
  if (!existsSync(directory)) {
    await makeWholeDirectory(directory, async (path) => {
      await writeFile(join(path, 'session.conf'), session);
      await voice.convert?.(path);
    });
    await removeOthers(parent, name, name + state);
  }
  return { config: voice.configure(directory), session: join(directory, 'session.conf') };
}

/** Deletes the conversions of a voice that has been removed. */
export async function removeConversions(file: string, { dataDir }: Context): Promise<void> {
  const parent = join(dataDir, 'voices');
  if (existsSync(parent)) await removeOthers(parent, `${basename(file, '.onnx')}-${digest(file)}-`, '');
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Deletes the conversions whose names begin with `prefix`, except `kept`. */
async function removeOthers(parent: string, prefix: string, kept: string): Promise<void> {
  const others = (await readdir(parent)).filter((name) => name.startsWith(prefix) && name !== kept);
  for (const name of others) await rm(join(parent, name), { recursive: true, force: true });
}

/** Recognizes the family of a voice by the files in its folder, without loading them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rememberFolder } from '../lib/sherpa/folder.ts';
import { kitten } from './kitten.ts';
import { kokoro } from './kokoro.ts';
import { rememberPiper } from './piper.ts';
import { supertonic } from './supertonic.ts';
import type { VoiceFile } from './voice-facts.ts';

const families = [kokoro, kitten, supertonic];
const names = families.flatMap(({ files }) => Object.values(files).flat());

/** Reads the files again only when they have changed. */
export function rememberVoice(folder: string): () => Promise<VoiceFile> {
  const inspect = rememberFolder(folder, families);
  let piper: { readonly file: string; readonly inspect: () => Promise<VoiceFile> } | undefined;
  return async () => {
    const models = modelsIn(folder);
    const cloning = cloningModel(models);
    if (cloning !== undefined) {
      return { ok: false, detail: `${folder} is not usable: ${cloning} clones voices, which Parlance does not offer` };
    }
    const [file, ...more] = models.filter((name) => !names.includes(name));
    if (file === undefined || more.length > 0) return inspect();
    if (piper?.file !== file) piper = { file, inspect: rememberPiper(join(folder, file)) };
    return piper.inspect();
  };
}

function modelsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.onnx'));
  } catch {
    return []; // `rememberFolder` reports the reason
  }
}

function cloningModel(models: readonly string[]): string | undefined {
  const has = (name: string) => models.includes(`${name}.onnx`) || models.includes(`${name}.int8.onnx`);
  if (has('lm_flow') || has('lm_main')) return 'Pocket';
  return has('encoder') && has('decoder') && !has('joiner') ? 'ZipVoice' : undefined;
}

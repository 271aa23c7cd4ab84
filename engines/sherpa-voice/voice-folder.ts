/** Recognizes the family of a voice by the files in its folder, without loading them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Unusable, explained, rememberFiles } from '../lib/model-files.ts';
import { readOnnxFile } from '../lib/sherpa/onnx-file.ts';
import { inspectKitten } from './kitten.ts';
import { inspectKokoro } from './kokoro.ts';
import { inspectPiper } from './piper.ts';
import { inspectSupertonic } from './supertonic.ts';
import type { VoiceFacts, VoiceFile } from './voice-facts.ts';

/** Reads the files again only when they have changed. */
export function rememberFolder(folder: string): () => Promise<VoiceFile> {
  let seen: { readonly key: string; readonly inspect: () => Promise<VoiceFile> } | undefined;
  return () => {
    const names = filesIn(folder);
    const key = names.join('\n');
    const files = [folder, ...names.map((name) => join(folder, name))];
    if (seen?.key !== key) seen = { key, inspect: rememberFiles(files, () => inspectFolder(folder)) };
    return seen.inspect();
  };
}

const listFiles = (folder: string) => readdirSync(folder).filter((name) => /\.(onnx|json|bin|txt)$/.test(name)).sort(); // prettier-ignore

function filesIn(folder: string): string[] {
  try {
    return listFiles(folder);
  } catch {
    return []; // `inspectFolder` reports the reason
  }
}

/** In the order of preference: 8-bit weights are slower on most processors. */
const models = ['model.onnx', 'model.fp32.onnx', 'model.fp16.onnx', 'model.int8.onnx'];

/** By `model_type` of the model. */
const families: Readonly<Record<string, (file: string, folder: string) => VoiceFacts>> = {
  kokoro: inspectKokoro,
  'kitten-tts': inspectKitten,
};

/** Throws as `explained` does. */
function inspectFolder(folder: string): VoiceFacts {
  const names = explained(folder, () => listFiles(folder));
  const cloning = cloningModel(names);
  if (cloning !== undefined) throw new Error(`${folder} is not usable: ${cloning} clones voices, which Parlance does not offer`); // prettier-ignore
  if (names.some((name) => /^(tts\.json|(duration_predictor|vector_estimator)(\.int8)?\.onnx)$/.test(name)))
    return inspectSupertonic(folder);
  const [piper, ...more] = names.filter((name) => name.endsWith('.onnx') && names.includes(`${name}.json`));
  if (piper !== undefined && more.length === 0) return inspectPiper(join(folder, piper));
  const model = models.find((name) => names.includes(name));
  if (model === undefined) throw new Error(`${folder} is not usable: ${expectations}`);
  const file = join(folder, model);
  const type = explained(file, () => readOnnxFile(file).metadata.get('model_type'));
  const inspect = Object.hasOwn(families, type ?? '') ? families[type ?? ''] : undefined;
  if (inspect) return inspect(file, folder);
  return explained(file, () => {
    throw new Unusable(`its model_type is ${type ?? 'missing'}; supported: ${Object.keys(families).join(', ')}`);
  });
}

const expectations =
  'it has neither one NAME.onnx with NAME.onnx.json (Piper), nor model.onnx, voices.bin and tokens.txt (Kokoro, Kitten), nor the files of Supertonic';

function cloningModel(names: readonly string[]): string | undefined {
  const has = (pattern: RegExp) => names.some((name) => pattern.test(name));
  if (has(/^lm_(flow|main)(\.int8)?\.onnx$/)) return 'Pocket';
  const isZipVoice = has(/^encoder(\.int8)?\.onnx$/) && has(/^decoder(\.int8)?\.onnx$/) && !has(/^joiner/);
  return isZipVoice ? 'ZipVoice' : undefined;
}

/** Models of the catalogues, with the digests of models made by hand: the bytes of the real ones are not available to tests. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findInCatalogue as findChat } from '../../engines/llama-local/catalogue.ts';
import { findInCatalogue as findVoice } from '../../engines/sherpa-voice/catalogue.ts';
import { catalogue as whisper } from '../../engines/whisper-cli/catalogue.ts';
import { makeChatModel } from './chat-model.ts';
import { temporaryDirectory } from './temporary.ts';
import { writeToneModel } from './tone-model.ts';
import { voiceModel } from './voice-model.ts';

/** By the last part of its URL. */
export type Files = Readonly<Record<string, Buffer>>;

/** `small`, `es_ES-carlfm-x_low` and `qwen3-0.6b`, until the end of the test. */
export async function standIns(): Promise<Files> {
  const path = join(await temporaryDirectory(), 'tones.bin');
  await writeToneModel(path);
  const [tones, chat, made] = [await readFile(path), makeChatModel(), voiceModel()];
  const config = Buffer.from(JSON.stringify(made.config));
  const voice = findVoice('es_ES-carlfm-x_low')!;
  const model = findChat('qwen3-0.6b')!;
  replace(whisper.small, { sha1: hash('sha1', tones), sizeMiB: Math.ceil(tones.length / 2 ** 20) });
  replace(voice.model, { bytes: made.onnx.length, sha256: hash('sha256', made.onnx) });
  replace(voice.config, { bytes: config.length, sha256: hash('sha256', config) });
  replace(model, { bytes: chat.length, sha256: hash('sha256', chat) });
  return {
    'ggml-small.bin': tones,
    'es_ES-carlfm-x_low.onnx': made.onnx,
    'es_ES-carlfm-x_low.onnx.json': config,
    [model.file]: chat,
  };
}

function replace(entry: object, facts: object): void {
  const before = { ...entry };
  Object.assign(entry, facts);
  onTestFinished(() => void Object.assign(entry, before));
}

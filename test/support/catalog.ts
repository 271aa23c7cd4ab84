/** Models of the catalogs, with the digests of models made by hand: the bytes of the real ones are not available to tests. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Catalog } from '../../engines/lib/catalog.ts';
import { catalog as chats } from '../../engines/llama-local/catalog.ts';
import { catalog as voices } from '../../engines/sherpa-voice/catalog.ts';
import { catalog as whisper } from '../../engines/whisper-cli/catalog.ts';
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
  replaceFiles(whisper, 'small', tones);
  replaceFiles(voices, 'es_ES-carlfm-x_low', config, made.onnx);
  replaceFiles(chats, 'qwen3-0.6b', chat);
  return {
    'ggml-small.bin': tones,
    'es_ES-carlfm-x_low.onnx': made.onnx,
    'es_ES-carlfm-x_low.onnx.json': config,
    'Qwen3-0.6B-Q8_0.gguf': chat,
  };
}

/** Until the end of the test, the files of a model have these contents. */
export function replaceFiles(catalog: Catalog, id: string, ...contents: readonly Buffer[]): void {
  for (const [index, file] of catalog.find(id)!.files.entries()) {
    const before = { ...file };
    const content = contents[index]!;
    Object.assign(file, { bytes: content.length, digest: hash('sha256', content) });
    onTestFinished(() => void Object.assign(file, before));
  }
}

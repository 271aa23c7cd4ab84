/** A service whose only engine is sherpa-voice, with voices made by hand and the real library. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Availability, ModelEntry, Speech, SpeechCall, SpeechEngine } from '../../../engines/contract/index.ts';
import { processesWith } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { writeVoice, type VoiceOptions } from '../../support/voice-model.ts';

export interface StartOptions {
  /** By id: a voice to write, or the path of one. */
  readonly voices?: Readonly<Record<string, VoiceOptions | string>>;
  /** By id: the folder of a voice. */
  readonly folders?: Readonly<Record<string, string>>;
  /** More options of the engine. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** More engines. */
  readonly others?: Readonly<Record<string, unknown>>;
}

export interface Voices {
  readonly service: TestService;
  readonly engine: SpeechEngine;
  entry(): ModelEntry;
  availability(): Availability;
  /** Paths of the voices, by id. */
  readonly files: Readonly<Record<string, string>>;
  say(call?: Partial<SpeechCall>, signal?: AbortSignal): Promise<Speech>;
  wav(call?: Partial<SpeechCall>): Promise<Buffer>;
  /** Process ids of the programs that have a voice in memory. */
  programs(): string[];
}

/** Disposed at the end of the test. */
export async function startVoices(start: StartOptions = {}): Promise<Voices> {
  const { folders = {}, voices = start.folders ? {} : { spelled: {} }, options = {}, env = {}, others = {} } = start;
  const directory = await temporaryDirectory();
  const files: Record<string, string> = {};
  for (const [id, voice] of Object.entries(voices)) {
    files[id] = typeof voice === 'string' ? voice : await writeVoice(directory, id, voice);
  }
  const list = [
    ...Object.entries(files).map(([id, file]) => ({ id, file })),
    ...Object.entries(folders).map(([id, folder]) => ({ id, folder })),
  ];
  const engines = { voice: { use: 'sherpa-voice', voices: list, ...options }, ...others };
  const service = await startTestService({ env, config: JSON.stringify({ engines }) });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const served = () => service.service.registry.of('speech').find('local-voice')!;
  const { engine } = served();
  const say: Voices['say'] = (call, signal = new AbortController().signal) =>
    engine.synthesize({ text: 'yes no hello', model: 'local-voice', format: 'wav', ...call }, { signal });
  const programs = () => processesWith(join(service.dir, 'data'));
  const now = { entry: () => served().entry, availability: () => served().availability };
  return { service, engine, ...now, files, say, wav: async (call) => collect(await say(call)), programs };
}

export async function collect(speech: Speech): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of speech.audio) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Returns what a voice of letters says for a text: pieces are joined without a space. */
export const said = (text: string): string => text.toLowerCase().replaceAll(/\s/g, '');

export const words = 'yes no hello world this voice has a tone for every letter and says them all in order'.split(' ');

/** So many letters and spaces, and a full stop; the same for the same numbers. */
export function sentenceOf(length: number, first: number): string {
  let sentence = '';
  for (let at = first; sentence.length < length - 1; at += 1) sentence += `${words[(at * 7) % words.length]!} `;
  return `${sentence.slice(0, length - 1).trimEnd()}.`;
}

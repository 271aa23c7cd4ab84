/** A service whose only engine is espeak, with the program or the WASM package, and helpers that decode and recognize its audio. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ModelEntry, SpeechCall, SpeechEngine, Speech } from '../../../engines/contract/index.ts';
import { findProgram, requireProgram, run } from '../../support/programs.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { wavSamples } from '../../support/wav-samples.ts';

/** Which synthesizer is found: with a PATH without programs it is the package. */
export type Synthesizer = 'program' | 'package';

export interface Espeak {
  readonly service: TestService;
  readonly engine: SpeechEngine;
  readonly entry: ModelEntry;
  say(call: Partial<SpeechCall>, signal?: AbortSignal): Promise<Speech>;
}

export const sentence = 'The quick brown fox jumps over the lazy dog near the old river bank. ';

/** Disposed at the end of the test. `options` are lines of YAML in flow style. */
export async function startEspeak(synthesizer: Synthesizer = 'program', options = ''): Promise<Espeak> {
  const espeak = await openEspeak(synthesizer, options);
  onTestFinished(() => espeak.service[Symbol.asyncDispose]());
  return espeak;
}

/** The same for several tests: its caller disposes of the service. */
export async function openEspeak(synthesizer: Synthesizer, options = ''): Promise<Espeak> {
  const ffmpeg = findProgram('ffmpeg');
  const env = synthesizer === 'package' ? { PATH: '/nowhere', ...(ffmpeg && { FFMPEG: ffmpeg }) } : {};
  const service = await startTestService({ env, config: `engines:\n  voice: { use: espeak, ${options} }\n` });
  const [model] = service.service.registry.of('speech').all;
  const { engine, entry } = model!;
  const say: Espeak['say'] = (call, signal = new AbortController().signal) =>
    engine.synthesize({ text: 'yes no hello', model: model!.engineId, format: 'mp3', ...call }, { signal });
  return { service, engine, entry, say };
}

export async function collect(speech: Speech | Promise<Speech>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await speech).audio) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The audio as decoded by ffmpeg without an error: 16 kHz mono s16. */
export async function decoded<T>(audio: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-espeak-'));
  try {
    const [from, to] = [join(directory, 'speech'), join(directory, 'x16k.wav')];
    await writeFile(from, audio);
    const args = ['-nostdin', '-loglevel', 'error', '-xerror', '-i', from, '-ac', '1', '-ar', '16000', to];
    await run(requireProgram('ffmpeg'), args);
    return await use(to);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export function secondsOf(audio: Uint8Array): Promise<number> {
  return decoded(audio, async (path) => ((await readFile(path)).length - 44) / 32_000);
}

/** For WAV files of the service at eSpeak's sample rate. */
export function secondsOfWav(wav: Buffer): number {
  if (wav.toString('latin1', 0, 4) !== 'RIFF' || wav.readUInt32LE(24) !== 22_050) throw new Error('not such a WAV');
  return wavSamples(wav).length / 44_100;
}

/** The words that pocketsphinx recognizes, from a small vocabulary. */
export function wordsIn(audio: Uint8Array): Promise<string> {
  return decoded(audio, async (path) => {
    const grammar = `${path}.jsgf`;
    await writeFile(grammar, `#JSGF V1.0;\ngrammar words;\npublic <words> = ( ${words.join(' | ')} )+ ;\n`);
    // Without dither, pocketsphinx takes the digital silence between two words for the end.
    const args = ['-infile', path, '-jsgf', grammar, '-dither', 'yes', '-logfn', '/dev/null'];
    return (await run(requireProgram('pocketsphinx_continuous'), args)).trim();
  });
}

const words = ['yes', 'no', 'hello', 'stop', 'seven', 'banana', 'open'];

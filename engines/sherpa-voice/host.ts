/**
 * Keeps one voice in memory and speaks with it: a program of its own (engines/contract/resident.ts). The only file that
 * loads sherpa-onnx, which ends its process on bad files, and contains eSpeak NG (GPL-3.0).
 *
 * Question: `HostQuestion`. Answers: {"sound": base64 of mono s16le}, in order. It serves as many questions at once as it is
 * asked; one that is at work cannot be stopped.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Its only argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
  /** Without one it only prints whether the library can be loaded (`LibraryCheck`). */
  readonly voice?: HostVoice;
}

export interface HostVoice {
  readonly model: string;
  readonly tokens: string;
  /** A file with options of ONNX Runtime. */
  readonly session: string;
  /** For a voice whose text goes through eSpeak NG. */
  readonly dataDir?: string;
  readonly threads: number;
  readonly noiseScale: number;
  readonly noiseW: number;
}

export interface HostQuestion {
  readonly text: string;
  readonly speaker: number;
  readonly speed: number;
}

export type LibraryCheck = { readonly version: string } | { readonly error: string };

interface Library {
  readonly version: string;
  readonly OfflineTts: new (config: object) => {
    generateAsync(request: object): Promise<{ readonly samples: Float32Array }>;
  };
}

const { library: directory, voice } = JSON.parse(process.argv[2] ?? '') as HostOptions;
if (voice) serve(load(), voice);
else say(check());

/** The library itself hides why its binary could not be loaded. */
function load(): Library {
  const require = createRequire(join(directory, 'package.json'));
  const system = process.platform === 'win32' ? 'win' : process.platform;
  require(`sherpa-onnx-${system}-${process.arch}/sherpa-onnx.node`);
  return require(directory) as Library;
}

function check(): LibraryCheck {
  try {
    return { version: load().version };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n'); // the others are where it was looked for
    return { error: reason };
  }
}

function serve({ OfflineTts }: Library, { session, threads, noiseScale, noiseW, ...files }: HostVoice): void {
  // `generate` replaces the length scale by 1 / speed, except at 1.
  const vits = { ...files, noiseScale, noiseScaleW: noiseW, lengthScale: 1 };
  const model = { vits, numThreads: threads, debug: 0, provider: `cpu:${session}` };
  const tts = new OfflineTts({ model, maxNumSentences: 1 });
  const cancelled = new Set<number>();

  async function answer({ id, text, speaker, speed }: HostQuestion & { readonly id: number }): Promise<void> {
    try {
      // silenceScale: the default shortens pauses to a fifth.
      const generationConfig = { sid: speaker, speed, silenceScale: 1 };
      const { samples } = await tts.generateAsync({ text, enableExternalBuffer: false, generationConfig });
      if (cancelled.delete(id)) say({ id, error: 'cancelled' });
      else speak(id, toS16(samples));
    } catch (error) {
      cancelled.delete(id);
      say({ id, error: messageOf(error) });
    }
  }

  const working = new Set<number>();
  createInterface({ input: process.stdin })
    .on('close', () => process.exit(0))
    .on('line', (line) => {
      const message = JSON.parse(line) as { readonly cancel: number } | (HostQuestion & { readonly id: number });
      if (!('cancel' in message)) {
        working.add(message.id);
        void answer(message).finally(() => working.delete(message.id));
      } else if (working.has(message.cancel)) cancelled.add(message.cancel);
    });
  say({ ready: true });
}

/** A line has at most 1 MiB. */
const chunkBytes = 393_216;

function speak(id: number, sound: Buffer): void {
  for (let at = 0; at < sound.length; at += chunkBytes)
    say({ id, sound: sound.toString('base64', at, at + chunkBytes) });
  say({ id, done: true });
}

/** In a loop: `Int16Array.from` takes ten times as long. */
function toS16(samples: Float32Array): Buffer {
  const sound = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) sound[i] = Math.round(Math.max(-1, Math.min(1, samples[i] ?? 0)) * 32_767);
  return Buffer.from(sound.buffer);
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Keeps one voice in memory and speaks with it. sherpa-onnx ends its process on bad files, and contains eSpeak NG
 * (GPL-3.0), so it runs in a program of its own.
 *
 * Question: `HostQuestion`. Answers: {"sound": base64 of mono s16le}, in order. A synthesis in progress cannot be stopped.
 */
import { serveQuestions, type Caller, type Question } from '../lib/host-program/host-program.ts';
import { loadLibrary } from '../lib/sherpa/program.ts';

/** Its only argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
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

const { library, session, threads, noiseScale, noiseW, ...files } = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { OfflineTts } = loadLibrary(library);
// `generate` replaces the length scale with 1 / speed, unless the speed is 1.
const vits = { ...files, noiseScale, noiseScaleW: noiseW, lengthScale: 1 };
const model = { vits, numThreads: threads, debug: 0, provider: `cpu:${session}` };
const tts = new OfflineTts({ model, maxNumSentences: 1 });

serveQuestions(async (question, { say, signal }) => {
  const { text, speaker, speed } = question as Question & HostQuestion;
  // silenceScale: the default shortens pauses to a fifth.
  const generationConfig = { sid: speaker, speed, silenceScale: 1 };
  const { samples } = await tts.generateAsync({ text, enableExternalBuffer: false, generationConfig });
  if (!signal.aborted) speak(toS16(samples), say);
});

/** A line has at most 1 MiB. */
const chunkBytes = 393_216;

function speak(sound: Buffer, say: Caller['say']): void {
  for (let at = 0; at < sound.length; at += chunkBytes) say({ sound: sound.toString('base64', at, at + chunkBytes) });
}

/** A loop, since `Int16Array.from` takes ten times as long. */
function toS16(samples: Float32Array): Buffer {
  const sound = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) sound[i] = Math.round(Math.max(-1, Math.min(1, samples[i] ?? 0)) * 32_767);
  return Buffer.from(sound.buffer);
}

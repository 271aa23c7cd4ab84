/**
 * Keeps one voice in memory and speaks with it. sherpa-onnx exits on invalid files, and contains eSpeak NG (GPL-3.0),
 * so it runs in a separate program.
 *
 * Question: `HostQuestion`. Answers: {"sound": base64 of mono s16le}, in order. A synthesis in progress cannot be
 * stopped.
 */
import { serveQuestions, type Caller, type Question } from '../lib/host-program/host-program.ts';
import { loadLibrary } from '../lib/sherpa/program.ts';

/** The program's only argument, as JSON. */
export interface HostOptions {
  /** The directory of the package sherpa-onnx-node. */
  readonly library: string;
  /** The configuration of the voice's family, by the name of the family. */
  readonly model: Readonly<Record<string, object>>;
  /** A file with options of ONNX Runtime. */
  readonly session: string;
  readonly threads: number;
  /** Spoken before the program reports that it is ready. */
  readonly first: HostQuestion;
}

export interface HostQuestion {
  readonly text: string;
  readonly speaker: number;
  readonly speed: number;
  /** For families that speak several languages. */
  readonly lang?: string | undefined;
}

const { library, model, session, threads, first } = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { OfflineTts } = loadLibrary(library);
const config = { ...model, numThreads: threads, debug: 0, provider: `cpu:${session}` };
const tts = new OfflineTts({ model: config, maxNumSentences: 1 });

try {
  // Synchronous on purpose: an exception of ONNX Runtime ends the process. `generateAsync` would never settle.
  tts.generate(requestOf(first));
} catch {
  // A text that cannot be spoken fails its request.
}

serveQuestions(async (question, { say, signal }) => {
  const { samples } = await tts.generateAsync(requestOf(question as Question & HostQuestion));
  if (!signal.aborted) speak(toS16(samples), say);
});

function requestOf({ text, speaker, speed, lang }: HostQuestion): object {
  // silenceScale: the default shortens pauses to a fifth.
  const generationConfig = { sid: speaker, speed, silenceScale: 1, ...(lang !== undefined && { extra: { lang } }) };
  return { text, enableExternalBuffer: false, generationConfig };
}

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

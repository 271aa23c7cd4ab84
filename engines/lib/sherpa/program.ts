/** What the programs that load sherpa-onnx have in common: each runs in a process of its own (engines/contract/resident.ts). */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The part of sherpa-onnx-node that we use. */
export interface Library {
  readonly version: string;
  readonly OfflineTts: new (config: object) => {
    generateAsync(request: object): Promise<{ readonly samples: Float32Array }>;
  };
  readonly OfflineRecognizer: new (config: object) => {
    createStream(): { acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void };
    decodeAsync(
      stream: object,
    ): Promise<{ readonly tokens: readonly string[]; readonly timestamps: readonly number[] }>;
  };
}

/** Of the package in `directory`. The library itself hides why its binary could not be loaded. */
export function loadLibrary(directory: string): Library {
  const require = createRequire(join(directory, 'package.json'));
  const system = process.platform === 'win32' ? 'win' : process.platform;
  require(`sherpa-onnx-${system}-${process.arch}/sherpa-onnx.node`);
  return require(directory) as Library;
}

export type Question = Readonly<Record<string, unknown>>;

export interface Caller {
  /** Sends a message before the end. */
  readonly say: (message: object) => void;
  /** Aborted when the service cancels the question. */
  readonly signal: AbortSignal;
}

/** Says that it is ready, and answers as many questions at once as it is asked. Ends with stdin. */
export function serveQuestions(answer: (question: Question, caller: Caller) => Promise<unknown>): void {
  const working = new Map<number, AbortController>();

  async function serve(question: Question & { readonly id: number }): Promise<void> {
    const { id } = question;
    const cancelled = new AbortController();
    working.set(id, cancelled);
    const caller = { signal: cancelled.signal, say: (message: object) => print({ id, ...message }) };
    try {
      const done = await answer(question, caller);
      cancelled.signal.throwIfAborted();
      print({ id, done: done ?? true });
    } catch (error) {
      print({ id, error: messageOf(error) });
    } finally {
      working.delete(id);
    }
  }

  createInterface({ input: process.stdin })
    .on('close', () => process.exit(0))
    .on('line', (line) => {
      const message = JSON.parse(line) as { readonly cancel: number } | (Question & { readonly id: number });
      if (!('cancel' in message)) void serve(message);
      else working.get(message.cancel as number)?.abort(new Error('cancelled'));
    });
  print({ ready: true });
}

export function print(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

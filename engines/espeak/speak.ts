import { EngineError, type EngineContext, type Pcm, type RunningProgram } from '../contract/index.ts';
import { readWav } from '../../lib/wav-reader.ts';
import type { Synthesizer } from './synthesizer.ts';
import { toSpeakable } from './text.ts';

export interface Utterance {
  readonly text: string;
  /** As `-v` takes it. */
  readonly voiceFile: string;
}

/** The caller's signal carries the deadline; this bound only catches a program that outlives every caller. */
const hardLimitMs = 24 * 3_600_000;

/** Hz, of a text without a sound. */
const usualRate = 22_050;

/** Speaks in a process of its own, no faster than the samples are read. The text goes through stdin, as text alone. */
export async function speak(
  { text, voiceFile }: Utterance,
  { command: [program, ...first], env }: Synthesizer,
  { start }: Pick<EngineContext, 'start'>,
  signal: AbortSignal,
): Promise<Pcm> {
  const args = [...first, '--stdin', '--stdout', '-b', '1', '-v', voiceFile]; // -b 1: the text is UTF-8
  const input = toSpeakable(text);
  const running = start(program, args, { signal, timeoutMs: hardLimitMs, cwd: '/', env, input });
  const pcm = await readWav(running.output).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw failed(cause);
  });
  if (!pcm) await expectSuccess(running);
  const { sampleRate, samples } = pcm ?? { sampleRate: usualRate, samples: nothing() };
  return { sampleRate, samples: wholeSpeech(samples, sampleRate, running, signal) };
}

/** The samples, at least a tenth of a second of them: a text may have nothing to be heard, but a file has sound in it. */
async function* wholeSpeech(
  samples: Pcm['samples'],
  sampleRate: number,
  running: RunningProgram,
  signal: AbortSignal,
): Pcm['samples'] & AsyncGenerator<Int16Array> {
  let missing = Math.round(sampleRate / 10);
  try {
    for await (const chunk of samples) {
      missing -= chunk.length;
      yield chunk;
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw failed(cause);
  }
  await expectSuccess(running);
  if (missing > 0) yield new Int16Array(missing);
}

async function expectSuccess({ exit }: RunningProgram): Promise<void> {
  const { code, signal, stderr } = await exit;
  if (code !== 0)
    throw failed(new Error(`it ended with ${code ?? signal ?? ''}; it said: ${stderr.trim().slice(-2000)}`));
}

function failed(cause: unknown): EngineError {
  return new EngineError('engine-failed', 'The speech program failed.', { cause });
}

async function* nothing(): AsyncGenerator<Int16Array> {
  // no samples
}

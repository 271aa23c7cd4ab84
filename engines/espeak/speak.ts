import { EngineError, type EngineContext, type Pcm, type RunningProgram } from '../contract/index.ts';
import { lastLine } from '../../lib/text.ts';
import { readWav } from '../../lib/wav.ts';
import type { Synthesizer } from './synthesizer.ts';
import { toSpeakable } from '../lib/espeak-text.ts';

export interface Utterance {
  readonly text: string;
  /** Value of `-v`. */
  readonly voiceFile: string;
  readonly language: string | null;
  /** Relative to the default rate; see `wordsPerMinute`. */
  readonly speed: number;
}

/** Words per minute: eSpeak NG's default, and the range that both the program and the WASM package support. */
const rates = { default: 175, min: 80, max: 450 };

/**
 * Value of `-s`. For a few sentences, the duration was inversely proportional to it within 7 % (measured with eSpeak NG
 * 1.51 and with the WASM package). Very short texts change more, because pauses change more than words: at speed 2,
 * "yes" takes a third of its normal time.
 */
function wordsPerMinute(speed: number): number {
  const rate = Math.round(rates.default * speed);
  if (rate >= rates.min && rate <= rates.max) return rate;
  const limits = `${(rates.min / rates.default).toFixed(2)} to ${(rates.max / rates.default).toFixed(2)}`;
  throw new EngineError('parameter-not-supported', `eSpeak NG has speeds of ${limits}, not ${String(speed)}.`);
}

/** Safety net only: the caller's signal carries the real timeout. */
const hardLimitMs = 24 * 3_600_000;

/** Sample rate in Hz if the program writes no audio. */
const fallbackRate = 22_050;

/** Synthesizes in a child process, with backpressure. The text is passed on stdin, so it is never parsed as an argument. */
export async function speak(
  { text, voiceFile, language, speed }: Utterance,
  { command: [program, ...first], env }: Synthesizer,
  { start }: Pick<EngineContext, 'start'>,
  signal: AbortSignal,
): Promise<Pcm> {
  const rate = String(wordsPerMinute(speed));
  const args = [...first, '--stdin', '--stdout', '-b', '1', '-v', voiceFile, '-s', rate]; // -b 1: the text is UTF-8
  const input = toSpeakable(text, language);
  const running = start(program, args, { signal, timeoutMs: hardLimitMs, cwd: '/', env, input });
  const pcm = await readWav(running.output).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw failed(cause);
  });
  if (!pcm) await expectSuccess(running);
  const { sampleRate, samples } = pcm ?? { sampleRate: fallbackRate, samples: nothing() };
  return { sampleRate, samples: padded(samples, sampleRate, running, signal) };
}

/** Pads the samples to at least a tenth of a second: some texts are silent, but a file must contain audio. */
async function* padded(
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
  if (code !== 0) throw failed(new Error(`it ended with ${code ?? signal ?? ''}; output: ${lastLine(stderr)}`));
}

function failed(cause: unknown): EngineError {
  return new EngineError('engine-failed', 'The speech program failed.', { cause });
}

async function* nothing(): AsyncGenerator<Int16Array> {
  // no samples
}

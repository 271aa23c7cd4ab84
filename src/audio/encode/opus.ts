/** opus in ogg, by ffmpeg. */
import { EngineError, type Pcm } from '../../../engines/contract/index.ts';
import { streamProgram } from '../../system/child-process.ts';

/** The signal carries the deadline of the request; this bound only catches a program that outlives every caller. */
const hardLimitMs = 24 * 3_600_000;

export async function* encodeOpus(
  { sampleRate, samples }: Pcm,
  ffmpeg: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let unspoken: unknown;
  const input = bytesOf(samples, (error) => (unspoken = error));
  const call = { signal, timeoutMs: hardLimitMs, cwd: '/', input };
  try {
    const { output, exit } = streamProgram(ffmpeg, ffmpegArguments(sampleRate), call);
    yield* output;
    const { code, stderr } = await exit;
    if (code !== 0) throw failureOf(code, stderr);
  } catch (error) {
    signal.throwIfAborted();
    // What the samples threw is no failure of the encoder; a program that was killed, or that is gone, is one.
    if (error === unspoken || EngineError.is(error)) throw error;
    throw new EngineError('engine-failed', 'The speech could not be encoded.', { cause: error });
  }
}

async function* bytesOf(
  samples: AsyncIterable<Int16Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const { buffer, byteOffset, byteLength } of samples) {
      yield new Uint8Array(buffer, byteOffset, byteLength);
    }
  } catch (error) {
    onError(error);
    throw error;
  }
}

function failureOf(code: number | null, stderr: string): Error {
  // An ffmpeg can be built without it, which shows only now; to ask each one would slow down every start.
  if (stderr.includes("Unknown encoder 'libopus'")) {
    return new EngineError('format-not-supported', 'The ffmpeg of this service makes no opus.');
  }
  return new Error(`ffmpeg: exit ${String(code)}: ${stderr.trim().slice(-2000)}`);
}

function ffmpegArguments(sampleRate: number): string[] {
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'error', '-threads', '1'],
    // Nothing to find out about raw samples: what comes is encoded at once.
    ...['-probesize', '32', '-analyzeduration', '0'],
    ...['-f', 's16le', '-ar', String(sampleRate), '-ac', '1', '-i', 'pipe:0'],
    ...['-c:a', 'libopus', '-b:a', '32k', '-application', 'voip', '-f', 'ogg', '-flush_packets', '1', 'pipe:1'],
  ];
}

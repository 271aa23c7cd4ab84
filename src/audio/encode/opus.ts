/** Encodes opus in ogg with ffmpeg. */
import { EngineError, type Pcm } from '../../../engines/contract/index.ts';
import { streamProgram } from '../../system/child-process/stream-program.ts';

/** The signal has the request's deadline; this limit only catches leaked programs. */
const hardLimitMs = 24 * 3_600_000;

export async function* encodeOpus(
  { sampleRate, samples }: Pcm,
  ffmpeg: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let sourceError: unknown;
  const input = bytesOf(samples, (error) => (sourceError = error));
  const call = { signal, timeoutMs: hardLimitMs, cwd: '/', input };
  try {
    const { output, exit } = streamProgram(ffmpeg, ffmpegArguments(sampleRate), call);
    yield* output;
    const { code, stderr } = await exit;
    if (code !== 0) throw exitError(code, stderr);
  } catch (error) {
    signal.throwIfAborted();
    // Errors of the sample source pass through; a killed or missing program is an encoder failure.
    if (error === sourceError || EngineError.is(error)) throw error;
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

function exitError(code: number | null, stderr: string): Error {
  // ffmpeg may be built without libopus. Detected here, because a check would slow down every start.
  if (stderr.includes("Unknown encoder 'libopus'")) {
    return new EngineError('format-not-supported', 'The ffmpeg on the server does not support opus.');
  }
  return new Error(`ffmpeg: exit ${String(code)}: ${stderr.trim().slice(-2000)}`);
}

function ffmpegArguments(sampleRate: number): string[] {
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'error', '-threads', '1'],
    // Raw samples need no probing: encode immediately.
    ...['-probesize', '32', '-analyzeduration', '0'],
    ...['-f', 's16le', '-ar', String(sampleRate), '-ac', '1', '-i', 'pipe:0'],
    ...['-c:a', 'libopus', '-b:a', '32k', '-application', 'voip', '-f', 'ogg', '-flush_packets', '1', 'pipe:1'],
  ];
}

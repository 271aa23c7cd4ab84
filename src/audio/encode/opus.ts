/** opus in ogg, by ffmpeg. */
import { EngineError, type Pcm } from '../../../engines/contract.ts';
import { streamProgram } from '../../machine/programs.ts';

/** The signal carries the deadline of the request; this bound only catches a program that outlives every caller. */
const hardLimitMs = 24 * 3_600_000;

export async function* encodeOpus(
  { sampleRate, samples }: Pcm,
  ffmpeg: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const call = { signal, timeoutMs: hardLimitMs, cwd: '/', input: bytesOf(samples) };
  const { output, exit } = streamProgram(ffmpeg, ffmpegArguments(sampleRate), call);
  yield* output;
  const { code, stderr } = await exit;
  if (code === 0) return;
  // An ffmpeg can be built without it, which shows only now; to ask each one would slow down every start.
  if (stderr.includes("Unknown encoder 'libopus'")) {
    throw new EngineError('format-not-supported', 'The ffmpeg of this service makes no opus.');
  }
  const cause = new Error(`ffmpeg: exit ${String(code)}: ${stderr.trim().slice(-2000)}`);
  throw new EngineError('engine-failed', 'The speech could not be encoded.', { cause });
}

async function* bytesOf(samples: AsyncIterable<Int16Array>): AsyncGenerator<Uint8Array> {
  for await (const { buffer, byteOffset, byteLength } of samples) yield new Uint8Array(buffer, byteOffset, byteLength);
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

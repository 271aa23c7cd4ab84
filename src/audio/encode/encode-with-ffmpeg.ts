/** Uses ffmpeg to encode the formats for which the service has no library. */
import { EngineError, type Pcm, type SpeechFormat } from '../../../engines/contract/index.ts';
import { lastLine } from '../../../lib/text.ts';
import { streamProgram } from '../../system/child-process/stream-program.ts';
import { ffmpegMark } from './synthetic-mark.ts';

/** The signal enforces the request's deadline; this limit only stops leaked processes. */
const hardLimitMs = 24 * 3_600_000;

export const ffmpegFormats = ['opus', 'flac', 'aac'] as const satisfies readonly SpeechFormat[];
export type FfmpegFormat = (typeof ffmpegFormats)[number];

export interface FfmpegEncoding {
  readonly format: FfmpegFormat;
  /** Path of ffmpeg. */
  readonly ffmpeg: string;
  readonly signal: AbortSignal;
}

export async function* encodeWithFfmpeg(
  { sampleRate, samples }: Pcm,
  { format, ffmpeg, signal }: FfmpegEncoding,
): AsyncGenerator<Uint8Array> {
  let sourceError: unknown;
  const input = bytesOf(samples, (error) => (sourceError = error));
  const call = { signal, timeoutMs: hardLimitMs, cwd: '/', input };
  try {
    const { output, exit } = streamProgram(ffmpeg, ffmpegArguments(format, sampleRate), call);
    yield* output;
    const { code, stderr } = await exit;
    if (code !== 0) throw exitError(format, code, stderr);
  } catch (error) {
    signal.throwIfAborted();
    // Errors from the sample source are rethrown as is; a killed or missing program is an encoder failure.
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

function exitError(format: FfmpegFormat, code: number | null, stderr: string): Error {
  // ffmpeg may be built without an encoder. This is detected on use, because a check at startup would slow down every
  // start.
  if (stderr.includes(`Unknown encoder '${encoders[format].name}'`)) {
    return new EngineError('format-not-supported', `The ffmpeg on the server does not support ${format}.`);
  }
  return new Error(`ffmpeg: exit ${String(code)}: ${lastLine(stderr)}`);
}

const encoders: Readonly<Record<FfmpegFormat, { readonly name: string; readonly options: readonly string[] }>> = {
  opus: { name: 'libopus', options: ['-b:a', '32k', '-application', 'voip', ...ffmpegMark, '-f', 'ogg'] },
  flac: { name: 'flac', options: [...ffmpegMark, '-f', 'flac'] },
  aac: { name: 'aac', options: ['-b:a', '64k', '-f', 'adts'] },
};

function ffmpegArguments(format: FfmpegFormat, sampleRate: number): string[] {
  const { name, options } = encoders[format];
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'error', '-threads', '1'],
    // Raw samples need no probing, so encoding can start immediately.
    ...['-probesize', '32', '-analyzeduration', '0'],
    ...['-f', 's16le', '-ar', String(sampleRate), '-ac', '1', '-i', 'pipe:0'],
    ...['-c:a', name, ...options, '-flush_packets', '1', 'pipe:1'],
  ];
}

/** Decodes recordings to 16 kHz mono PCM: what already is that is copied; the rest by ffmpeg if installed, else by WASM decoders. */
import { randomUUID } from 'node:crypto';
import { join, dirname } from 'node:path';
import type { Decoded, EngineContext } from '../../engines/contract/index.ts';
import type { DiskAccount } from '../system/disk-budget.ts';
import { decodeWithFfmpeg } from './ffmpeg.ts';
import type { DecodeJob, DecodeOptions } from './job.ts';
import { copyPcmWav } from './pcm-wav.ts';

export interface DecoderOptions {
  /** Path of the ffmpeg program; undefined if not installed. */
  readonly ffmpeg: string | undefined;
  readonly maxSeconds: number;
  /** The disk account of the directory of a file; undefined if not accounted. */
  readonly accountOf: (path: string) => DiskAccount | undefined;
}

/** The `decode` of an engine's context. Each call writes a new WAV file next to the recording, removed together with it. */
export function createDecoder({ ffmpeg, maxSeconds, accountOf }: DecoderOptions): EngineContext['decode'] {
  return async ({ path, container }, { signal }) => {
    const job = { path, container, wavPath: join(dirname(path), `${randomUUID()}.decoded.wav`), maxSeconds };
    return decodeTo(job, { signal, account: accountOf(path), ffmpeg });
  };
}

/** Creates the file `wavPath`, and removes it on failure. */
export async function decodeTo(
  job: DecodeJob,
  { ffmpeg, ...options }: DecodeOptions & Pick<DecoderOptions, 'ffmpeg'>,
): Promise<Decoded> {
  const copied = job.container === 'wav' ? await copyPcmWav(job, options) : undefined;
  if (copied !== undefined) return copied;
  if (ffmpeg !== undefined) return decodeWithFfmpeg(ffmpeg, job, options);
  // Lazy: the decoders are not needed with ffmpeg.
  const { decodeWithWasm } = await import('./wasm/index.ts');
  const { durationMs } = await decodeWithWasm(job, options);
  return { wavPath: job.wavPath, durationMs };
}

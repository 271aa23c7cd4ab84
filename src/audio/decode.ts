/** Any accepted recording into 16 kHz mono PCM: with ffmpeg where it is installed, else with WASM decoders. */
import { randomUUID } from 'node:crypto';
import { join, dirname } from 'node:path';
import type { Decoded, EngineContext } from '../../engines/contract.ts';
import { decodeWithFfmpeg } from './ffmpeg.ts';

export interface DecoderOptions {
  /** Path of the ffmpeg program; undefined when there is none. */
  readonly ffmpeg: string | undefined;
  readonly maxSeconds: number;
}

/** The `decode` of an engine's context. Each call writes a WAV file of its own beside the recording; it goes with it. */
export function createDecoder({ ffmpeg, maxSeconds }: DecoderOptions): EngineContext['decode'] {
  return async ({ path, container }, { signal }): Promise<Decoded> => {
    const job = { path, container, wavPath: join(dirname(path), `${randomUUID()}.decoded.wav`), maxSeconds };
    if (ffmpeg !== undefined) return decodeWithFfmpeg(ffmpeg, job, { signal });
    // Loaded late: with ffmpeg installed nobody needs the decoders.
    const { decodeWithWasm } = await import('./wasm/index.ts');
    const { durationMs } = await decodeWithWasm(job, { signal });
    return { wavPath: job.wavPath, durationMs };
  };
}

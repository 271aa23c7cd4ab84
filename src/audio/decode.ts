/** Any accepted recording into 16 kHz mono PCM: with ffmpeg where it is installed, else with WASM decoders. */
import { randomUUID } from 'node:crypto';
import { join, dirname } from 'node:path';
import type { Decoded, EngineContext } from '../../engines/contract/index.ts';
import type { DiskAccount } from '../system/disk-budget.ts';
import { decodeWithFfmpeg } from './ffmpeg.ts';

export interface DecoderOptions {
  /** Path of the ffmpeg program; undefined when there is none. */
  readonly ffmpeg: string | undefined;
  readonly maxSeconds: number;
  /** The account of the directory that a file lies in; undefined where nothing counts it. */
  readonly accountOf: (path: string) => DiskAccount | undefined;
}

/** The `decode` of an engine's context. Each call writes a WAV file of its own beside the recording; it goes with it. */
export function createDecoder({ ffmpeg, maxSeconds, accountOf }: DecoderOptions): EngineContext['decode'] {
  return async ({ path, container }, { signal }): Promise<Decoded> => {
    const job = { path, container, wavPath: join(dirname(path), `${randomUUID()}.decoded.wav`), maxSeconds };
    const account = accountOf(path);
    if (ffmpeg !== undefined) return decodeWithFfmpeg(ffmpeg, job, { signal, account });
    // Loaded late: with ffmpeg installed nobody needs the decoders.
    const { decodeWithWasm } = await import('./wasm/index.ts');
    const { durationMs } = await decodeWithWasm(job, { signal, account });
    return { wavPath: job.wavPath, durationMs };
  };
}

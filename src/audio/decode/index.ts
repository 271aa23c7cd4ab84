/**
 * Decodes recordings to 16 kHz mono PCM: copies recordings that already have this format, and decodes the others with
 * ffmpeg, or with WASM decoders if ffmpeg is not installed or the recording is joined.
 */
import { randomUUID } from 'node:crypto';
import { join, dirname } from 'node:path';
import { EngineError, type EngineContext, type Recording } from '../../../engines/contract/index.ts';
import type { DiskAccount } from '../../system/disk-budget.ts';
import { decodeWithFfmpeg } from '../ffmpeg/index.ts';
import type { DecodedRecording, DecodeRequest, DecodeOptions } from '../decode-request.ts';
import { copyPcmWav } from '../wav-file.ts';
import { JoinedRecording, undecodable } from '../failures.ts';
import { sectionsOf } from '../sections.ts';

export interface DecoderOptions {
  /** Path of ffmpeg; undefined if it is not installed. */
  readonly ffmpeg: string | undefined;
  readonly maxSeconds: number;
  /** Returns the disk account for the directory of a file; undefined if its bytes are not counted. */
  readonly accountOf: (path: string) => DiskAccount | undefined;
}

export type Decoder = (
  recording: Recording & Partial<Pick<DecodeRequest, 'channel' | 'maxSeconds'>>,
  options: Parameters<EngineContext['decode']>[1],
) => Promise<DecodedRecording>;

/**
 * Implements `decode` of an engine's context, optionally for one channel or with a lower limit. Each call writes a new
 * WAV file next to the recording, and both are removed together; a slice is already decoded, so nothing is written.
 */
export function createDecoder({ ffmpeg, accountOf, ...limit }: DecoderOptions): Decoder {
  return async ({ path, container, slice, channel, maxSeconds = limit.maxSeconds }, { signal }) => {
    if (slice) return { wavPath: path, ...slice, gaps: [] };
    const wavPath = join(dirname(path), `${randomUUID()}.decoded.wav`);
    const request = { path, container, wavPath, maxSeconds, channel };
    return decodeTo(request, { signal, account: accountOf(path), ffmpeg });
  };
}

/** Creates the file `wavPath`, and removes it on failure. */
export async function decodeTo(
  request: DecodeRequest,
  { ffmpeg, ...options }: DecodeOptions & Pick<DecoderOptions, 'ffmpeg'>,
): Promise<DecodedRecording> {
  if (isJoined(request)) return decodeJoined(request, options);
  const copied = request.container === 'wav' ? await copyPcmWav(request, options) : undefined;
  if (copied !== undefined) return copied;
  if (ffmpeg === undefined) return decodeWithoutFfmpeg(request, options);
  try {
    return await decodeWithFfmpeg(ffmpeg, request, options);
  } catch (error) {
    if (error instanceof JoinedRecording) return decodeJoined(request, options);
    throw error;
  }
}

/** True if the file contains several recordings. ffmpeg and the direct copy would read only the first. */
function isJoined({ path, container }: DecodeRequest): boolean {
  return (container === 'wav' || container === 'mp4') && sectionsOf(path, container).length > 1;
}

async function decodeJoined(request: DecodeRequest, options: DecodeOptions): Promise<DecodedRecording> {
  try {
    return await decodeWithoutFfmpeg(request, options);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'recording-undecodable') throw error;
    // The decoder's message is replaced, because it may recommend using ffmpeg.
    throw undecodable(`the ${request.container} file is joined from several recordings`, error);
  }
}

async function decodeWithoutFfmpeg(request: DecodeRequest, options: DecodeOptions): Promise<DecodedRecording> {
  // Imported lazily, because the decoders are rarely needed if ffmpeg is installed.
  const { decodeWithWasm } = await import('../wasm/index.ts');
  return decodeWithWasm(request, options);
}

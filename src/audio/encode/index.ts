/** Implements `encode` of an engine's context: encodes a stream of PCM into the requested format. */
import {
  EngineError,
  pcmFormat,
  speechFormats,
  speechMediaTypes,
  type EngineContext,
  type Pcm,
  type SpeechFormat,
  type TemporaryDirectory,
} from '../../../engines/contract/index.ts';
import { abortable } from '../../../lib/abort.ts';
import type { DiskAccount } from '../../system/disk-budget.ts';
import { blocksOf } from './blocks.ts';
import { encodeInThread } from './encode-in-thread.ts';
import { encodeWithFfmpeg, ffmpegFormats, type FfmpegFormat } from './encode-with-ffmpeg.ts';
import { encodeWav } from './wav.ts';

export interface EncoderOptions {
  /** Path of the ffmpeg program, which opus, flac and aac need; undefined if it is not installed. */
  readonly ffmpeg: string | undefined;
  readonly temporaryDirectory: () => Promise<TemporaryDirectory>;
  /** Opens the disk account for one synthesis, because wav output is collected in a file. */
  readonly openAccount: () => DiskAccount;
}

export function createEncoder({
  ffmpeg,
  temporaryDirectory,
  openAccount,
}: EncoderOptions): Pick<EngineContext, 'formats' | 'encode'> {
  const formats = speechFormats.filter((format) => ffmpeg !== undefined || !needsFfmpeg(format));

  function start(format: SpeechFormat, pcm: Pcm, signal: AbortSignal): AsyncIterable<Uint8Array> {
    if (format === 'wav') return encodeWav(pcm, { temporaryDirectory, openAccount, signal });
    if (format === 'pcm') return encodePcm(pcm, signal);
    if (!needsFfmpeg(format)) return encodeInThread(pcm, format, signal);
    if (ffmpeg !== undefined) return encodeWithFfmpeg(pcm, { format, ffmpeg, signal });
    const detail = `${format} needs ffmpeg on the server; supported: ${formats.join(', ')}.`;
    throw new EngineError('format-not-supported', detail);
  }

  return {
    formats,
    encode({ sampleRate, samples }, format, { signal }) {
      const pcm = { sampleRate, samples: abortable(() => samples, signal) };
      return { mediaType: speechMediaTypes[format], audio: start(format, pcm, signal) };
    },
  };
}

function needsFfmpeg(format: SpeechFormat): format is FfmpegFormat {
  return (ffmpegFormats as readonly SpeechFormat[]).includes(format);
}

/** At least a tenth of a second per block (at 24 kHz), because voice apps play pcm as it arrives. */
const pcmBlock = { min: 2_400, max: 98_304 };

/** Streams raw samples at the rate of the format, as they arrive. */
function encodePcm(pcm: Pcm, signal: AbortSignal): AsyncIterable<Uint8Array> {
  return pcm.sampleRate === pcmFormat.sampleRate ? bytesOf(pcm.samples) : encodeInThread(pcm, 'pcm', signal, pcmBlock);
}

async function* bytesOf(samples: Pcm['samples']): AsyncGenerator<Uint8Array> {
  for await (const { buffer } of blocksOf(samples, pcmBlock)) yield new Uint8Array(buffer);
}

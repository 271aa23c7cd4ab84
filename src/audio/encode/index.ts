/** The `encode` of an engine's context: streams PCM into the requested format. */
import {
  EngineError,
  speechFormats,
  type EngineContext,
  type Pcm,
  type SpeechFormat,
  type TemporaryDirectory,
} from '../../../engines/contract/index.ts';
import { abortable } from '../../../lib/abort.ts';
import type { DiskAccount } from '../../system/disk-budget.ts';
import { encodeOpus } from './opus.ts';
import { encodeInThread } from './encode-in-thread.ts';
import { encodeWav } from './wav.ts';

export interface EncoderOptions {
  /** Path of the ffmpeg program, needed for opus; undefined if not installed. */
  readonly ffmpeg: string | undefined;
  readonly temporaryDirectory: () => Promise<TemporaryDirectory>;
  /** Disk account for one speech: wav is collected in a file. */
  readonly openAccount: () => DiskAccount;
}

const mediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
};

export function createEncoder({
  ffmpeg,
  temporaryDirectory,
  openAccount,
}: EncoderOptions): Pick<EngineContext, 'formats' | 'encode'> {
  const formats = speechFormats.filter((format) => format !== 'opus' || ffmpeg !== undefined);

  function start(format: SpeechFormat, pcm: Pcm, signal: AbortSignal): AsyncIterable<Uint8Array> {
    if (format === 'wav') return encodeWav(pcm, { temporaryDirectory, openAccount, signal });
    if (format !== 'opus') return encodeInThread(pcm, format, signal);
    if (ffmpeg !== undefined) return encodeOpus(pcm, ffmpeg, signal);
    throw new EngineError('format-not-supported', `opus needs ffmpeg on the server; supported: ${formats.join(', ')}.`);
  }

  return {
    formats,
    encode({ sampleRate, samples }, format, { signal }) {
      const pcm = { sampleRate, samples: abortable(() => samples, signal) };
      return { mediaType: mediaTypes[format], audio: start(format, pcm, signal) };
    },
  };
}

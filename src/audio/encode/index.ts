/** The `encode` of an engine's context: speech into what a caller asked for, while it is being made. */
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
import { encodeInThread } from './thread.ts';
import { encodeWav } from './wav.ts';

export interface EncoderOptions {
  /** Path of the ffmpeg program, which makes opus; undefined when there is none. */
  readonly ffmpeg: string | undefined;
  readonly temporaryDirectory: () => Promise<TemporaryDirectory>;
  /** For the bytes of one speech: wav is collected in a file. */
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
    throw new EngineError('format-not-supported', `opus needs ffmpeg; without it there are ${formats.join(', ')}.`);
  }

  return {
    formats,
    encode({ sampleRate, samples }, format, { signal }) {
      const pcm = { sampleRate, samples: abortable(() => samples, signal) };
      return { mediaType: mediaTypes[format], audio: start(format, pcm, signal) };
    },
  };
}

/** Decides how to produce a format that the provider may not support, or not for a text of several pieces. */
import { EngineError, type SpeechFormat } from '../contract/index.ts';
import type { RemoteFormat } from './apis.ts';

/**
 * `pass` streams the response unchanged; `join` concatenates the frames of mp3 pieces; `encode` encodes the samples of
 * all pieces as one stream. wav, pcm and several pieces are encoded if possible: players play only the first piece of a
 * concatenated WAV or Ogg, the length in a provider's WAV is a guess, and its pcm may have another rate.
 */
export interface Plan {
  readonly mode: 'pass' | 'join' | 'encode';
  /** Format requested from the provider. */
  readonly remoteFormat: RemoteFormat;
}

export interface PlanInput {
  /** Number of pieces of the text. */
  readonly pieces: number;
  /** Formats that the provider supports. */
  readonly remote: readonly RemoteFormat[];
  /** Formats that we can encode. */
  readonly encodable: readonly SpeechFormat[];
}

/** Throws `format-not-supported`. */
export function planFor(format: SpeechFormat, { pieces, remote, encodable }: PlanInput): Plan {
  const isBare = format === 'wav' || format === 'pcm';
  if (pieces === 1 && !isBare && remote.includes(format)) return { mode: 'pass', remoteFormat: format };
  const samples = remote.find((candidate) => candidate === 'pcm' || candidate === 'wav');
  if (samples !== undefined && encodable.includes(format)) return { mode: 'encode', remoteFormat: samples };
  if (format === 'mp3' && remote.includes(format)) return { mode: 'join', remoteFormat: format };
  throw new EngineError(
    'format-not-supported',
    `This model does not support ${format}${pieces > 1 ? ' for a text of this length' : ''}.`,
  );
}

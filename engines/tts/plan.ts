/** How a format comes about that the provider may not have, or not for a text this long. */
import { EngineError, type SpeechFormat } from '../contract/index.ts';
import type { RemoteFormat } from './apis.ts';

/**
 * `pass` hands on what comes; `join` puts the frames of mp3 pieces behind one another; `encode` makes one stream of the
 * sound of all pieces. A joined WAV or Ogg would play its first piece alone, and the length in a provider's WAV is a
 * guess, so these are always made of sound.
 */
export interface Plan {
  readonly way: 'pass' | 'join' | 'encode';
  /** What the pieces are fetched as. */
  readonly fetched: RemoteFormat;
}

export interface Given {
  /** Of the text. */
  readonly pieces: number;
  /** What the provider can answer with. */
  readonly remote: readonly RemoteFormat[];
  /** What we can encode. */
  readonly encodable: readonly SpeechFormat[];
}

/** Throws `format-not-supported`. */
export function planFor(format: SpeechFormat, { pieces, remote, encodable }: Given): Plan {
  if (pieces === 1 && format !== 'wav' && remote.includes(format)) return { way: 'pass', fetched: format };
  const sound = remote.find((candidate) => candidate === 'pcm' || candidate === 'wav');
  if (sound !== undefined && encodable.includes(format)) return { way: 'encode', fetched: sound };
  if (format === 'mp3' && remote.includes(format)) return { way: 'join', fetched: format };
  throw new EngineError(
    'format-not-supported',
    `This model cannot speak ${pieces > 1 ? 'so long a text ' : ''}in ${format}.`,
  );
}

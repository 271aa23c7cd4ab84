/** The sound of a text, piece by piece; the next one is made while one is read. */
import { EngineError, type Resident } from '../contract/index.ts';
import { prefetch } from '../lib/prefetch.ts';
import type { HostQuestion } from './host.ts';
import type { Piece } from './pieces.ts';

export interface Manner {
  readonly sampleRate: number;
  /** Between two sentences. */
  readonly pauseMs: number;
}

type SayPiece = (text: string, isFirst: boolean) => Promise<Int16Array>;

export async function* speak(
  pieces: readonly Piece[],
  say: SayPiece,
  { sampleRate, pauseMs }: Manner,
): AsyncGenerator<Int16Array> {
  const sounds = prefetch(pieces, (piece) => say(piece.text, piece === pieces[0]));
  let missing = Math.round(sampleRate / 10); // some texts are silent, but a file must contain audio
  let at = 0;
  for await (const sound of sounds) {
    missing -= sound.length;
    yield sound;
    const { pause = 0 } = pieces[at++] ?? {};
    if (at < pieces.length && pause > 0) yield new Int16Array(Math.round((pause * pauseMs * sampleRate) / 1000));
  }
  if (missing > 0) yield new Int16Array(missing);
}

/** Asks the program (host.ts). */
export async function sayWith(host: Resident, question: HostQuestion, signal: AbortSignal): Promise<Int16Array> {
  const chunks: Buffer[] = [];
  await host.call(
    { ...question },
    {
      signal,
      onMessage({ sound }) {
        if (typeof sound !== 'string') throw new EngineError('engine-failed', 'The loaded voice failed.');
        chunks.push(Buffer.from(sound, 'base64'));
      },
    },
  );
  const { buffer, byteOffset, length } = Buffer.concat(chunks);
  return new Int16Array(buffer, byteOffset, length / 2);
}

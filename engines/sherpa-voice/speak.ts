/** Synthesizes a text piece by piece; the next piece is synthesized while the current one is read. */
import { EngineError, type Resident } from '../contract/index.ts';
import { sentenceEnds } from '../../lib/sentences.ts';
import { piecesOf, type Piece } from '../../lib/spoken-pieces.ts';
import { prefetch } from '../lib/prefetch.ts';
import type { HostQuestion } from './host.ts';

/**
 * Maximum length of a piece in code points. The library keeps the memory of its longest piece: 400 MB for 10 s of
 * audio.
 */
const longest = 120;

/** The first audio arrives when the first piece is done, but voices drop parts of very short sentences. */
const shortestFirst = 12;

/**
 * Voices do not pause at an empty line, at an ellipsis, or between a period and a lowercase letter on the next line.
 */
const pauses = /\n\s*\n|(?<=\.\.\.|…)\s+|(?<=\p{Sentence_Terminal}["'”’»」』)\]]?)[^\S\n]*\n/u;

/** Other line ends within a paragraph are spaces. */
export function voicePieces(text: string): Piece[] {
  const paragraphs = text.trim().split(pauses);
  return paragraphs.flatMap((paragraph, index) =>
    piecesOf(paragraph.replace(/\s+/g, ' '), {
      longest,
      sentenceEnds,
      ...(index === 0 && { shortest: [shortestFirst, Infinity] }),
    }),
  );
}

export interface Manner {
  readonly sampleRate: number;
  /** Pause between two sentences. */
  readonly pauseMs: number;
}

/** Shares of `pauseMs`. */
const pauseAfter: Readonly<Record<Piece['end'], number>> = { sentence: 1, clause: 0.5, word: 0 };

type SayPiece = (text: string, isFirst: boolean) => Promise<Int16Array>;

export async function* speak(
  pieces: readonly Piece[],
  say: SayPiece,
  { sampleRate, pauseMs }: Manner,
): AsyncGenerator<Int16Array> {
  const spoken = prefetch(pieces, (piece) => say(piece.text, piece === pieces[0]));
  let missing = Math.round(sampleRate / 10); // some texts are silent, but a file must contain audio
  let at = 0;
  for await (const samples of spoken) {
    missing -= samples.length;
    yield samples;
    const pause = pauseAfter[pieces[at++]?.end ?? 'word'];
    if (at < pieces.length && pause > 0) yield new Int16Array(Math.round((pause * pauseMs * sampleRate) / 1000));
  }
  if (missing > 0) yield new Int16Array(missing);
}

/** Has the voice's program (host.ts) speak one piece. */
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

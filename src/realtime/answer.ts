/** An answer: a chat and, if it is spoken, the speech of its text, piece by piece. Independent of any protocol. */
import { EngineError, pcmFormat, type Logger } from '../../engines/contract/index.ts';
import { abortable } from '../../lib/abort.ts';
import { separatorOf } from '../../lib/join-texts.ts';
import { createRateLimit } from '../../lib/rate-limit.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import { startRun, type RunPlan } from '../chat/run.ts';
import type { Audio } from '../contract/audio.ts';
import type { SpeechModelSelector, SpeechSelection, Utterance } from '../speech/speech-models.ts';
import { speakable } from '../speech/speakable.ts';
import type { ToolSource } from '../tools/toolbox.ts';
import { createDeltas, createPieces, type AnswerText } from './answer-text.ts';
import { soundOf, type OutputEncoding, type Sound } from './sound-output.ts';

export interface AnswerPlan {
  /** Identifies the answer in the log. */
  readonly id: string;
  readonly chat: Pick<RunPlan<never>, 'model' | 'call' | 'tools'>;
  /** null if the answer is text. */
  readonly speech: SpeechPlan | null;
  /**
   * For an answer that begins early: until this resolves, nothing is yielded, no tool of the service is called, and at
   * most one piece is spoken. A rejection is thrown.
   */
  readonly released?: Promise<unknown> | undefined;
}

export interface SpeechPlan {
  readonly selection: SpeechSelection;
  /**
   * Language of the turn, as its transcript has it. If `selection` and the settings name no voice, a voice of this
   * language is used, if there is one.
   */
  readonly language?: string | undefined;
  /** Requires a model that supports `speed`. */
  readonly speed?: number | undefined;
  readonly encoding: OutputEncoding;
}

export type AnswerServices = Parameters<typeof startRun>[1] & {
  readonly speakers: SpeechModelSelector;
  readonly log: Logger;
};

/**
 * The parts of an answer, in this order: `text` in an answer that is text; `piece`, its `sound`, and `spoken` for each
 * piece of an answer that is spoken; then `calls`, if the model calls tools of the caller; then `end`.
 */
export type AnswerPart =
  | AnswerText
  /**
   * The words of a piece, without marks or code. Its first sound is available. The texts of all pieces join to the text
   * of the answer. An answer of only code has no pieces.
   */
  | { readonly type: 'piece'; readonly text: string }
  | ({ readonly type: 'sound' } & Sound)
  /** All sound of the piece has been yielded. */
  | { readonly type: 'spoken' };

/** Sound is yielded at most this long before it can have been played, so that an interruption wastes little speech. */
const maxAheadMs = 15_000;
/** The chat waits while this many characters of its text are unread. */
const maxUnreadText = 32_768;

/**
 * Yields the parts of the answer. Failures of the chat, the tools and the voice are thrown after the parts before them:
 * the errors of `startRun` and of `SpeechModelSelector.choose` and `speak`. An abort rejects the pending
 * `next()` with the reason of the signal and, like `return()`, ends all work. Nothing begins before the first `next()`,
 * whose scope is charged for the run.
 *
 * The chat does not wait for the speech. One piece is spoken ahead of the reader, and no more if the reader stops.
 */
export function answer(
  plan: AnswerPlan,
  services: AnswerServices,
  signal: AbortSignal,
): AsyncIterableIterator<AnswerPart, undefined> {
  return abortable(
    (own) => partsOf(plan, services, own),
    signal,
    ({ type }) => type === 'end',
  );
}

async function* partsOf(
  { id, chat, speech, released }: AnswerPlan,
  { speakers, log, ...services }: AnswerServices,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart> {
  const say = speech && createVoice(speech, speakers, signal);
  const format = speech ? createPieces() : createDeltas();
  const tools = released ? afterRelease(services.tools, released) : services.tools;
  const run = await startRun({ id, log, signal }, { ...services, tools }, { ...chat, isStream: true, format });
  const sizeOf = (part: AnswerText) => (part.type === 'text' ? part.text.length : 1);
  const written = readAhead(run, { sizeOf, limit: maxUnreadText, signal });
  const parts = say
    ? spoken(readAhead(piecesOf(written, say), { sizeOf: () => 1, limit: 1, signal }), signal)
    : written;
  await released;
  yield* parts;
}

/** A tool's own timeout begins after the release. */
const afterRelease = (source: ToolSource, released: Promise<unknown>): ToolSource => ({
  async toolsFor(chat) {
    const tools = await source.toolsFor(chat);
    return tools.map((tool) => ({ ...tool, run: (...call) => released.then(() => tool.run(...call)) }));
  },
});

/** A piece whose first sound is available. */
interface SpokenPiece {
  readonly type: 'piece';
  readonly text: string;
  readonly sound: AsyncIterable<Sound>;
}

/** Resolves once the first sound is available, or with undefined if there is nothing to speak. */
type Say = (markdown: string) => Promise<Pick<SpokenPiece, 'text' | 'sound'> | undefined>;

async function* piecesOf(
  written: AsyncIterable<AnswerText>,
  say: Say,
): AsyncGenerator<Exclude<AnswerText, { type: 'text' }> | SpokenPiece> {
  let before = '';
  for await (const part of written) {
    if (part.type !== 'text') {
      yield part;
      continue;
    }
    const piece = await say(part.text);
    if (!piece) continue;
    yield { ...piece, type: 'piece', text: gapBetween(before, piece.text) + piece.text };
    before = piece.text;
  }
}

/** A heading or a list item without a full stop ends with its line. */
function gapBetween(before: string, after: string): string {
  const gap = separatorOf(before, after);
  return gap === '' || /\p{P}$/u.test(before) ? gap : '\n';
}

async function* spoken(pieces: ReturnType<typeof piecesOf>, signal: AbortSignal): AsyncGenerator<AnswerPart> {
  const waitForClient = createRateLimit({ burst: maxAheadMs, perSecond: 1_000 });
  for await (const piece of pieces) {
    if (piece.type !== 'piece') {
      yield piece;
      continue;
    }
    yield { type: 'piece', text: piece.text };
    for await (const sound of piece.sound) {
      await waitForClient(sound.ms, signal);
      yield { type: 'sound', ...sound };
    }
    yield { type: 'spoken' };
  }
}

/** Throws the errors of `SpeechModelSelector.choose`. */
function createVoice(plan: SpeechPlan, speakers: SpeechModelSelector, signal: AbortSignal): Say {
  const speaker = speakers.choose(plan.selection);
  const speed = plan.speed === undefined ? {} : { speed: plan.speed };
  let language = toLanguage(plan.language);

  async function speak(text: string): Promise<Audio> {
    const utterance: Utterance = { text, speakable: true, format: 'pcm', ...speed, ...language };
    try {
      return await speaker.speak(utterance, { signal });
    } catch (error) {
      // The default voice answers if no voice speaks the language of the turn.
      const isLanguage = EngineError.is(error) && error.code === 'language-not-supported';
      if (!isLanguage || language.language === undefined) throw error;
      language = {};
      return speak(text);
    }
  }

  return async (markdown) => {
    const text = speakable(markdown)
      .trim()
      .replace(/\s*\n\s*/g, '\n');
    if (text === '') return undefined;
    const { mediaType, audio } = await speak(markdown);
    if (mediaType !== pcmFormat.mediaType) {
      throw new EngineError('engine-failed', 'The speech engine returned audio of another format.');
    }
    // Read ahead of the client, so that the voice is soon free for others.
    const sound = readAhead(soundOf(audio, plan.encoding), { sizeOf: ({ ms }) => ms, limit: maxAheadMs, signal });
    return { text, sound };
  };
}

/** Voices have ISO 639-1 codes; some transcripts have a longer one. */
export const toLanguage = (code = ''): Pick<Utterance, 'language'> =>
  /^[a-z]{2}$/.test(code) ? { language: code } : {};

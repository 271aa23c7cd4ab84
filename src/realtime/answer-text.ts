/** The text of an answer while the model writes it: deltas, or pieces that are to be spoken. */
import type { AgentEvent, ChatResult } from '../../engines/contract/index.ts';
import { clauseOrSentenceEnds } from '../../lib/first-clause.ts';
import { createSpokenPieces } from '../../lib/spoken-markdown.ts';
import type { RunFormat } from '../chat/run.ts';
import { createStepJoin } from '../chat/step-join.ts';

export type AnswerText =
  | { readonly type: 'text'; readonly text: string }
  /** Calls of the caller's tools, after all text. */
  | { readonly type: 'calls'; readonly calls: NonNullable<ChatResult['toolCalls']> }
  | ({ readonly type: 'end' } & Pick<ChatResult, 'finishReason' | 'usage'>);

/**
 * Sentences, so that an interruption wastes little speech, and because the words that were heard are estimated within a
 * piece. Voices drop parts of very short pieces.
 */
const pieceLengths = { longest: 300, shortest: [0, 24, 48], sentenceEnds: clauseOrSentenceEnds } as const;

/** The deltas as the model wrote them. The texts of several steps are separated by an empty line. */
export function createDeltas(): RunFormat<AnswerText> {
  const join = createStepJoin();
  return {
    start: () => [],
    toEvents: (event) => (event.type === 'content-delta' ? textsOf([join(event)]) : endOf(event)),
  };
}

/**
 * Pieces of Markdown. A piece ends before a tool runs, so that it is spoken while the tool is running. Each step begins
 * with a short piece, because the user has waited for it.
 */
export function createPieces(): RunFormat<AnswerText> {
  let pieces = createSpokenPieces(pieceLengths);
  const flush = () => {
    const rest = textsOf(pieces.flush());
    pieces = createSpokenPieces(pieceLengths);
    return rest;
  };
  return {
    start: () => [],
    toEvents(event) {
      switch (event.type) {
        case 'content-delta':
          return textsOf(pieces.write(event.delta));
        case 'content-retracted':
          flush();
          return [];
        case 'step-started':
        case 'tool-started':
          return flush();
        default:
          return event.type === 'completed' ? [...flush(), ...endOf(event)] : [];
      }
    },
  };
}

const textsOf = (texts: readonly string[]): AnswerText[] =>
  texts.filter((text) => text !== '').map((text) => ({ type: 'text', text }));

function endOf(event: AgentEvent): AnswerText[] {
  if (event.type !== 'completed') return [];
  const { finishReason, usage, toolCalls } = event.result;
  const end = { type: 'end', finishReason, usage } as const;
  return toolCalls ? [{ type: 'calls', calls: toolCalls }, end] : [end];
}

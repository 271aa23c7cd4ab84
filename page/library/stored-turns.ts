/** Turns as the browser keeps them: the text of questions and answers, without reasoning, tool calls and clips. Pure. */
import { excerptOf, textOf, type About, type Turn } from '../conversation-state.ts';
import type { Failure } from '../failure.ts';

export type StoredTurn =
  | { readonly role: 'user'; readonly text: string; readonly about?: About }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly state: 'done' | 'stopped' | 'failed';
      readonly model?: string;
      readonly failure?: Failure;
    };

/** A running answer is stored as stopped. */
export function toStored(turn: Turn): StoredTurn {
  if (turn.role === 'user') return { role: 'user', text: turn.text, ...(turn.about && { about: turn.about }) };
  const { state, result, failure } = turn;
  const model = result?.model ?? turn.model;
  return {
    role: 'assistant',
    text: textOf(turn),
    state: state === 'running' ? 'stopped' : state,
    ...(model !== undefined && { model }),
    ...(failure && { failure }),
  };
}

/** Turns that `before` has at the same place keep their ids, so that their elements stay on the page. */
export function toTurns(stored: readonly StoredTurn[], before: readonly Turn[], newId: () => number): readonly Turn[] {
  return stored.map((turn, index) => {
    const known = before[index];
    const isKnown = known?.role === turn.role && textOf(known) === turn.text;
    return toTurn(turn, isKnown ? known.id : newId());
  });
}

function toTurn(stored: StoredTurn, id: number): Turn {
  if (stored.role === 'user') return { ...stored, id };
  const { state, text, model, failure } = stored;
  const parts = [{ kind: 'text', step: 0, text }] as const;
  return { role: 'assistant', id, state, parts, ...(model !== undefined && { model }), ...(failure && { failure }) };
}

/** Returns the beginning of the first question. */
export function titleOf(turns: readonly StoredTurn[]): string {
  const first = turns.find(({ role, text }) => role === 'user' && text.trim() !== '');
  return first ? excerptOf(first.text, 80) : 'Conversation';
}

export const searchTextOf = (title: string, turns: readonly StoredTurn[]): string =>
  plain([title, ...turns.map(({ text }) => text)].join('\n'));

/** Removes case and accents. */
export const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOptionalText = (value: unknown) => value === undefined || typeof value === 'string';

export function isStoredTurn(turn: unknown): turn is StoredTurn {
  if (!isRecord(turn) || typeof turn.text !== 'string') return false;
  if (turn.role === 'user') return turn.about === undefined || isAbout(turn.about);
  const { role, state, model, failure } = turn;
  if (role !== 'assistant' || !isOptionalText(model)) return false;
  return (
    (state === 'done' || state === 'stopped' || state === 'failed') && (failure === undefined || isFailure(failure))
  );
}

function isAbout(value: unknown): value is About {
  if (!isRecord(value)) return false;
  const { title, text, untilMs } = value;
  return (
    typeof title === 'string' && typeof text === 'string' && (untilMs === undefined || typeof untilMs === 'number')
  );
}

const isFailure = (value: unknown): value is Failure =>
  isRecord(value) && typeof value.text === 'string' && isOptionalText(value.code) && isOptionalText(value.requestId);

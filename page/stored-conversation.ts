/**
 * The conversation across a reload of the tab: the text of its turns, at most 1 MB of the latest, for the key that it was
 * held with. Pure but for the storage that it is given.
 */
import { textOf, type Answer, type Turn } from './conversation-state.ts';
import type { Failure } from './failure.ts';

export interface ConversationStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

type StoredTurn =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly state: 'done' | 'stopped' | 'failed';
      readonly model?: string;
      readonly failure?: Failure;
    };

interface Stored {
  readonly owner: string;
  readonly turns: readonly StoredTurn[];
}

const name = 'parlance-conversation';

/** Limit for the stored text; browsers keep two bytes for a character. */
export const maxStoredBytes = 1_048_576;
const bytesPerCharacter = 2;
const maxTurns = 1_000;

export function storeTurns(storage: () => ConversationStorage, turns: readonly Turn[], key: string | undefined): void {
  try {
    storage().removeItem(name); // also if there is no room for the new one
    if (turns.length === 0) return;
    storage().setItem(name, JSON.stringify({ owner: ownerOf(key), turns: latest(turns) } satisfies Stored));
  } catch {
    // Blocked or full: the conversation lasts as long as the page.
  }
}

/** Empty for another key and for invalid data. Ids count from 1. */
export function storedTurns(storage: () => ConversationStorage, key: string | undefined): readonly Turn[] {
  try {
    const stored = JSON.parse(storage().getItem(name) ?? 'null') as unknown;
    if (!isRecord(stored) || stored.owner !== ownerOf(key) || !Array.isArray(stored.turns)) return [];
    return stored.turns.filter(isStoredTurn).slice(-maxTurns).map(toTurn);
  } catch {
    return [];
  }
}

/** Newest turns that fit; the oldest of them may be cut. */
function latest(turns: readonly Turn[]): readonly StoredTurn[] {
  const kept: StoredTurn[] = [];
  let room = maxStoredBytes / bytesPerCharacter - frame;
  for (const turn of turns.toReversed().slice(0, maxTurns)) {
    const stored = toStored(turn);
    const size = JSON.stringify(stored).length + 1;
    if (size > room) {
      const length = Math.floor((room - frame) / longestEscape);
      if (length > 0) kept.push({ ...stored, text: stored.text.slice(0, length) });
      break;
    }
    kept.push(stored);
    room -= size;
  }
  return kept.reverse();
}

/** More than the JSON around the text of a turn, or around the turns. */
const frame = 3_000;
/** `\u0000` in JSON. */
const longestEscape = 6;

function toStored(turn: Turn): StoredTurn {
  if (turn.role === 'user') return { role: 'user', text: turn.text };
  const { state, result, failure } = turn;
  const model = result?.model ?? turn.model;
  return {
    role: 'assistant',
    text: textOf(turn),
    state: state === 'running' ? 'stopped' : state,
    ...(model !== undefined && { model: model.slice(0, 100) }),
    ...(failure && { failure: { ...failure, text: failure.text.slice(0, 200) } }),
  };
}

function toTurn(stored: StoredTurn, index: number): Turn {
  const id = index + 1;
  if (stored.role === 'user') return { role: 'user', id, text: stored.text };
  const { state, text, model, failure } = stored;
  const answer: Answer = { role: 'assistant', id, state, parts: [{ kind: 'text', step: 0, text }] };
  return { ...answer, ...(model !== undefined && { model }), ...(failure && { failure }) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOptionalText = (value: unknown) => value === undefined || typeof value === 'string';

function isStoredTurn(turn: unknown): turn is StoredTurn {
  if (!isRecord(turn) || typeof turn.text !== 'string') return false;
  if (turn.role === 'user') return true;
  const { role, state, model, failure } = turn;
  if (role !== 'assistant' || !isOptionalText(model)) return false;
  return (
    (state === 'done' || state === 'stopped' || state === 'failed') && (failure === undefined || isFailure(failure))
  );
}

const isFailure = (value: unknown): value is Failure =>
  isRecord(value) && typeof value.text === 'string' && isOptionalText(value.code) && isOptionalText(value.requestId);

/** Tells keys apart; too short to find the key (FNV-1a, 32 bits). */
function ownerOf(key: string | undefined): string {
  if (key === undefined) return '';
  let hash = 0x811c9dc5;
  for (const character of new TextEncoder().encode(key)) hash = Math.imul(hash ^ character, 0x01000193) >>> 0;
  return hash.toString(16);
}

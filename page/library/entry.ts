/** What the library has. */
import type { StoredTurn } from './stored-turns.ts';

/** One line of the list. */
export interface Entry {
  readonly id: string;
  /** Of the key that was in use, see `ownerOf`. */
  readonly owner: string;
  readonly kind: 'chat' | 'transcript';
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updated: number;
  /** Counts the writes, so that two tabs notice each other. */
  readonly revision: number;
}

/** What an entry contains. */
export interface Content {
  readonly turns: readonly StoredTurn[];
}

/** An entry with all of it. */
export interface Whole {
  readonly entry: Entry;
  readonly content: Content;
  /** Without case and accents. */
  readonly searchText: string;
}

/** `crypto.randomUUID` is missing on plain http. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('');

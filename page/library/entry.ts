/** The types of the library. */
import type { TimedTranscript } from '../reader/timed-transcript.ts';
import type { StoredTurn } from './stored-turns.ts';

/** One line of the list. */
export interface Entry {
  readonly id: string;
  /** The owner of the entry: a hash of the key that was in use (`ownerOf`). */
  readonly owner: string;
  readonly kind: 'chat' | 'transcript';
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updated: number;
  /** Counts the writes, so that two tabs notice each other. */
  readonly revision: number;
  /** The job of the service that is writing the transcript. */
  readonly job?: string;
}

/** The content of an entry. */
export interface Content {
  /** Empty for a transcript. */
  readonly turns: readonly StoredTurn[];
  readonly transcript?: TimedTranscript;
}

/** An entry with everything that belongs to it. */
export interface Whole {
  readonly entry: Entry;
  readonly content: Content;
  /** Without case and accents. */
  readonly searchText: string;
  /** The recording of a transcript, unless it is gone. */
  readonly file?: File;
}

/** `crypto.randomUUID` is missing on plain http. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('');

/** Exports everything that the browser keeps as one JSON file, and imports such a file, which is untrusted. Pure. */
import { validPreferences, type Preferences } from '../preference-storage.ts';
import { readTranscript } from '../reader/read-transcript.ts';
import { searchTextOf as textOfTranscript } from '../reader/timed-transcript.ts';
import { newId, type Content, type Entry, type Whole } from './entry.ts';
import { isRecord, isStoredTurn, searchTextOf, type StoredTurn } from './stored-turns.ts';

export const maxArchiveBytes = 100 * 1_048_576;
const limits = { entries: 10_000, turns: 10_000, title: 200 } as const;

interface Archived extends Pick<Entry, 'id' | 'kind' | 'title' | 'updated'> {
  readonly turns: readonly StoredTurn[];
  readonly transcript?: unknown;
}

/** Incremented when older pages cannot read the new format. */
const version = 1;

export function toArchive(all: readonly Whole[], options: Preferences): string {
  const entries = all.map(({ entry: { id, kind, title, updated }, content }): Archived => ({
    ...{ id, kind, title, updated },
    ...content,
  }));
  return JSON.stringify({ parlance: version, options, entries });
}

export interface Import {
  readonly added: readonly Whole[];
  /** Number of entries that already exist here. */
  readonly known: number;
  /** Number of invalid entries. */
  readonly refused: number;
  readonly options: Partial<Preferences>;
}

/**
 * An entry that has changed since the export is added in addition to the existing one. Throws an error for the user.
 */
export function fromArchive(text: string, here: readonly Entry[], owner: string): Import {
  const { entries, options } = parse(text);
  const valid = entries.slice(0, limits.entries).filter(isArchived);
  const isKnown = (one: Archived) => here.some(({ id, updated }) => id === one.id && updated === one.updated);
  const isTaken = (id: string) => here.some((entry) => entry.id === id);
  const added = valid
    .filter((one) => !isKnown(one))
    .map(({ id, kind, title, updated, ...rest }): Whole => ({
      entry: { id: isTaken(id) ? newId() : id, owner, kind, updated, title: title.slice(0, limits.title), revision: 1 },
      ...contentOf(title, rest),
    }));
  const refused = entries.length - valid.length;
  return { added, refused, known: valid.length - added.length, options: validPreferences(options) };
}

function contentOf(title: string, { turns, transcript: value }: Pick<Archived, 'turns' | 'transcript'>) {
  const transcript = readTranscript(value);
  const content: Content = { turns: turns.slice(0, limits.turns), ...(transcript && { transcript }) };
  return { content, searchText: transcript ? textOfTranscript(title, transcript) : searchTextOf(title, turns) };
}

function parse(text: string): { readonly entries: readonly unknown[]; readonly options: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below, like JSON that is not an export.
  }
  if (!isRecord(value) || value.parlance === undefined || !Array.isArray(value.entries)) {
    throw new Error('This file is no export of this page.');
  }
  if (value.parlance !== version) throw new Error('This export was made by another version of this page.');
  return { entries: value.entries, options: value.options };
}

/** Another file could otherwise name a property of a prototype, or fill the list with one long line. */
const isId = (value: unknown) => typeof value === 'string' && /^[a-z0-9]{10,40}$/.test(value);

function isArchived(value: unknown): value is Archived {
  if (!isRecord(value)) return false;
  const { id, kind, title, updated, turns, transcript } = value;
  if (!isId(id) || typeof title !== 'string' || !Number.isSafeInteger(updated) || !Array.isArray(turns)) return false;
  if (kind === 'transcript') return turns.length === 0 && readTranscript(transcript) !== undefined;
  return kind === 'chat' && transcript === undefined && turns.length > 0 && turns.every(isStoredTurn);
}

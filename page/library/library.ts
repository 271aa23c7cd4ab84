/**
 * The library: conversations and transcripts, kept in this browser until they are deleted. Each belongs to the key that
 * was in use. Changes reach the other tabs. Where the browser refuses storage, every call resolves and stores nothing.
 */
import { batch, effect, signal, untracked } from '@preact/signals';
import { key } from '../key.ts';
import { storeNames, transact, type StoreName, type Stores } from './database.ts';
import type { Content, Entry, Whole } from './entry.ts';
import { ownerOf } from './owner.ts';
import { plain } from './stored-turns.ts';

/** The entries of the current key, newest first. Undefined until they are read. */
export const entries = signal<readonly Entry[] | undefined>(undefined);

/** Why nothing is kept; undefined if storage works. */
export const refusal = signal<'refused' | 'full' | undefined>(undefined);

/** The latest change by another tab. */
export const change = signal<Change | undefined>(undefined);

export interface Change {
  /** The id of the entry. Undefined if everything was deleted. */
  readonly id?: string;
  readonly isDeleted: boolean;
}

let channel: BroadcastChannel | undefined;

/** Reads the list now, and again whenever the key changes or another tab changes something. */
export function watchLibrary(): void {
  channel = new BroadcastChannel('parlance');
  channel.onmessage = ({ data }: MessageEvent<Change>) => {
    change.value = data;
    void refresh();
  };
  effect(() => {
    const owner = ownerOf(key.value);
    if (untracked(() => entries.value?.some((one) => one.owner !== owner))) entries.value = undefined;
    void refresh();
  });
}

export async function refresh(): Promise<void> {
  const all = (await attempt(['entries'], 'readonly', ({ entries }) => entries.getAll())) ?? [];
  const owner = ownerOf(key.peek());
  entries.value = newestFirst(all.filter((one) => one.owner === owner));
}

/** Returns an entry of the current key, with its content. */
export async function read(id: string): Promise<Whole | undefined> {
  const whole = await attempt(kept, 'readonly', (stores) => readIn(stores, id));
  return whole?.entry.owner === ownerOf(key.peek()) ? whole : undefined;
}

const kept = ['entries', 'contents', 'texts', 'files'] as const;
type Kept = Stores<(typeof kept)[number]>;

async function readIn({ entries, contents, texts, files }: Kept, id: string): Promise<Whole | undefined> {
  const [entry, content, searchText = '', file] = await Promise.all([
    entries.get(id),
    contents.get(id),
    texts.get(id),
    files.get(id),
  ]);
  return entry && content && { entry, content, searchText, ...(file && { file }) };
}

export interface Draft extends Content, Pick<Entry, 'id' | 'owner' | 'kind' | 'title' | 'job'> {
  readonly searchText: string;
  /** The revision that the draft is based on; 0 for a new entry. */
  readonly revision: number;
}

/** `changed` and `deleted`: by another tab, since the revision; in that case, nothing is written. */
export type Outcome = 'saved' | 'changed' | 'deleted' | 'refused';

/** `isComplete`: whether to notify the other tabs. */
export async function save(draft: Draft, isComplete: boolean): Promise<Outcome> {
  const { id, owner, kind, title, job, revision, searchText, ...content } = draft;
  const entry: Entry = {
    ...{ id, owner, kind, title, ...(job !== undefined && { job }) },
    updated: Date.now(),
    revision: revision + 1,
  };
  const outcome = await attempt(kept, 'readwrite', async (stores): Promise<Outcome> => {
    const known = (await stores.entries.get(id))?.revision ?? 0;
    if (known !== revision) return known === 0 ? 'deleted' : 'changed';
    await write(stores, { entry, content, searchText });
    return 'saved';
  });
  if (outcome !== 'saved') return outcome ?? 'refused';
  refusal.value = undefined; // there is room again
  if (owner === ownerOf(key.peek())) show(entry);
  if (isComplete) broadcast({ id, isDeleted: false });
  return outcome;
}

const write = (stores: Kept, { entry, content, searchText, file }: Whole) =>
  Promise.all([
    stores.entries.put(entry, entry.id),
    stores.contents.put(content, entry.id),
    stores.texts.put(searchText, entry.id),
    file && stores.files.put(file, entry.id),
  ]);

/** Keeps the recording of a transcript, separately: there may be room for the transcript but not for the recording. */
export async function keepFile(id: string, file: File): Promise<void> {
  await attempt(['files'], 'readwrite', ({ files }) => files.put(file, id));
}

/** Adds whole entries, for example from a file or an undo. Returns whether they are kept. */
export async function add(all: readonly Whole[]): Promise<boolean> {
  const written = await attempt(kept, 'readwrite', (stores) => Promise.all(all.map((one) => write(stores, one))));
  await refresh();
  for (const { entry } of all) broadcast({ id: entry.id, isDeleted: false });
  return written !== undefined;
}

/** The last deletion, which can be undone for ten seconds. */
export const removed = signal<Whole | undefined>(undefined);
const undoMs = 10_000;
let forgetting: ReturnType<typeof setTimeout> | undefined;

export function forgetRemoved(): void {
  clearTimeout(forgetting);
  removed.value = undefined;
}

export async function remove(id: string): Promise<void> {
  const whole = await attempt(kept, 'readwrite', async (stores) => {
    const whole = await readIn(stores, id);
    await Promise.all(kept.map((name) => stores[name].delete(id)));
    return whole;
  });
  batch(() => {
    forgetRemoved();
    removed.value = whole;
    forgetting = setTimeout(forgetRemoved, undoMs);
    entries.value = entries.value?.filter((one) => one.id !== id);
  });
  broadcast({ id, isDeleted: true });
}

/** Returns the restored entry. */
export async function undoRemoval(): Promise<Entry | undefined> {
  const whole = removed.value;
  forgetRemoved();
  return whole && (await add([whole])) ? whole.entry : undefined;
}

/** Deletes the entries of all keys, and the recordings that failed. */
export async function deleteAll(): Promise<void> {
  await attempt(storeNames, 'readwrite', (stores) => Promise.all(storeNames.map((name) => stores[name].clear())));
  forgetRemoved();
  broadcast({ isDeleted: true });
  await refresh();
}

/** Returns all entries of the current key. */
export async function readAll(): Promise<readonly Whole[]> {
  await refresh();
  const all = await Promise.all((entries.peek() ?? []).map(({ id }) => read(id)));
  return all.filter((one) => one !== undefined);
}

/** Returns the ids of entries that contain every word. */
export async function search(query: string): Promise<ReadonlySet<string>> {
  const words = plain(query).split(/\s+/).filter(Boolean);
  const found = await attempt(['texts'], 'readonly', async ({ texts: store }) => {
    const [ids, texts] = await Promise.all([store.getAllKeys(), store.getAll()]);
    return ids.filter((_id, index) => words.every((word) => texts[index]?.includes(word)));
  });
  return new Set(found);
}

const newestFirst = (all: readonly Entry[]) => all.toSorted((one, other) => other.updated - one.updated);

function show(entry: Entry): void {
  entries.value = [entry, ...(entries.peek() ?? []).filter(({ id }) => id !== entry.id)];
}

const broadcast = (message: Change): void => channel?.postMessage(message);

async function attempt<const Name extends StoreName, Result>(
  ...transaction: Parameters<typeof transact<Name, Result>>
): Promise<Result | undefined> {
  try {
    return await transact(...transaction);
  } catch (error) {
    refusal.value = error instanceof DOMException && error.name === 'QuotaExceededError' ? 'full' : 'refused';
    return undefined;
  }
}

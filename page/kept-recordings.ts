/**
 * Recordings that failed to transcribe, kept on this device across a reload: at most three and 100 MB, for a day, each
 * for the key that it was recorded with. A recording is deleted once it is transcribed or discarded, with its key, and
 * when the option is turned off.
 */
import { key } from './key.ts';
import { transact, type FailedRecording, type Store } from './library/database.ts';
import { newId } from './library/entry.ts';
import { ownerOf } from './library/owner.ts';
import { preferences } from './preferences.ts';

export interface KeptRecording {
  readonly id: string;
  readonly file: File;
  readonly isDictated: boolean;
}

const limits = { count: 3, bytes: 100 * 1_048_576, ms: 86_400_000 } as const;

/** Returns the id; undefined if it is not kept: the option is off, it is too large, or the browser's storage is full. */
export async function keepRecording(file: File, isDictated: boolean): Promise<string | undefined> {
  if (!preferences.value.keepRecordings || file.size > limits.bytes) return undefined;
  return attempt(async (store) => {
    const id = newId();
    await store.put({ file, isDictated, owner: ownerOf(key.value), at: Date.now() }, id);
    await prune(store);
    return id;
  });
}

/** Recordings of the current key, newest first. */
export async function keptRecordings(): Promise<readonly KeptRecording[]> {
  const kept = await attempt(async (store) => {
    await prune(store);
    const owner = ownerOf(key.value);
    return (await stored(store))
      .filter(([, one]) => one.owner === owner)
      .map(([id, { file, isDictated = false }]) => ({ id, file, isDictated }));
  });
  return kept ?? [];
}

export async function dropRecording(id: string): Promise<void> {
  await attempt((store) => store.delete(id));
}

/** Deletes the recordings of one key, or of all keys. */
export async function dropRecordings(owner?: { readonly key: string | undefined }): Promise<void> {
  await attempt(async (store) => {
    const gone = (await stored(store)).filter(([, one]) => !owner || one.owner === ownerOf(owner.key));
    await Promise.all(gone.map(([id]) => store.delete(id)));
  });
}

/** Newest first. */
async function stored(store: Recordings): Promise<[string, FailedRecording][]> {
  const [ids, all] = await Promise.all([store.getAllKeys(), store.getAll()]);
  return all
    .map((one, index): [string, FailedRecording] => [ids[index] ?? '', one])
    .sort(([, one], [, other]) => other.at - one.at);
}

async function prune(store: Recordings): Promise<void> {
  let [count, bytes] = [0, 0];
  for (const [id, { file, at }] of await stored(store)) {
    count += 1;
    bytes += file.size;
    const isOver = count > limits.count || bytes > limits.bytes || Date.now() - at > limits.ms;
    if (isOver) await store.delete(id);
  }
}

type Recordings = Store<FailedRecording>;

/** A browser that blocks storage, or whose disk is full, rejects; the recording then lasts as long as the page. */
const attempt = <Result>(work: (store: Recordings) => Promise<Result>): Promise<Result | undefined> =>
  transact(['recordings'], 'readwrite', ({ recordings }) => work(recordings)).catch(() => undefined);

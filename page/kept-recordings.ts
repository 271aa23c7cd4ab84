/**
 * Recordings that failed to transcribe, kept on this device across a reload: at most three and 100 MB, for a day, each for
 * the key that it was recorded with. Deleted once transcribed or discarded, with the key, and when the option is off.
 */
import { createStore, del, entries, set, type UseStore } from 'idb-keyval';
import { key } from './key.ts';
import { preferences } from './preferences.ts';

export interface KeptRecording {
  readonly id: string;
  readonly file: File;
}

interface Stored {
  readonly file: File;
  /** SHA-256 of the key; "" for none. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const limits = { count: 3, bytes: 100 * 1_048_576, ms: 86_400_000 } as const;

let opened: UseStore | undefined;
const store = (): UseStore => (opened ??= createStore('parlance', 'recordings'));

/** Returns the id; undefined if it is not kept: the option is off, it is too large, or the browser's storage is full. */
export async function keepRecording(file: File): Promise<string | undefined> {
  if (!preferences.value.keepRecordings || file.size > limits.bytes) return undefined;
  return attempt(async () => {
    const id = crypto.randomUUID();
    await set(id, { file, owner: await fingerprint(key.value), at: Date.now() } satisfies Stored, store());
    await prune();
    return id;
  });
}

/** Recordings of the current key, newest first. */
export async function keptRecordings(): Promise<readonly KeptRecording[]> {
  const kept = await attempt(async () => {
    await prune();
    const owner = await fingerprint(key.value);
    return (await stored()).filter(([, one]) => one.owner === owner).map(([id, { file }]) => ({ id, file }));
  });
  return kept ?? [];
}

export async function dropRecording(id: string): Promise<void> {
  await attempt(() => del(id, store()));
}

/** Deletes the recordings of one key, or of all keys. */
export async function dropRecordings(owner?: { readonly key: string | undefined }): Promise<void> {
  await attempt(async () => {
    const hash = owner && (await fingerprint(owner.key));
    const gone = (await stored()).filter(([, one]) => hash === undefined || one.owner === hash);
    await Promise.all(gone.map(([id]) => del(id, store())));
  });
}

/** Newest first, without entries that are not valid. */
async function stored(): Promise<[string, Stored][]> {
  const all = await entries<string, Partial<Stored> | undefined>(store());
  const valid = all.filter((entry): entry is [string, Stored] => entry[1]?.file instanceof File);
  return valid.sort(([, one], [, other]) => other.at - one.at);
}

async function prune(): Promise<void> {
  let [count, bytes] = [0, 0];
  for (const [id, { file, at }] of await stored()) {
    count += 1;
    bytes += file.size;
    const isOver = count > limits.count || bytes > limits.bytes || Date.now() - at > limits.ms;
    if (isOver) await del(id, store());
  }
}

/** Rejects in an insecure context, which has no digest: nothing is kept there. */
async function fingerprint(secret: string | undefined): Promise<string> {
  if (secret === undefined) return '';
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A browser that blocks storage, or whose disk is full, rejects: the recording lasts as long as the page. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

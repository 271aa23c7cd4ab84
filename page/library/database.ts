/** The IndexedDB of the page. The list is stored apart from the contents, so that it can be read without them. */
import type { Content, Entry } from './entry.ts';

/** A recording that failed to transcribe. */
export interface FailedRecording {
  readonly file: File;
  /** True if its transcript belongs in the message. */
  readonly isDictated?: boolean;
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The values of each store, by the id of the entry or recording. */
interface Values {
  entries: Entry;
  contents: Content;
  /** Searchable texts, without case and accents. */
  texts: string;
  /** The recordings of transcripts. */
  files: File;
  recordings: FailedRecording;
}

export type StoreName = keyof Values;

export const storeNames = ['entries', 'contents', 'texts', 'files', 'recordings'] as const;

let opened: Promise<IDBDatabase> | undefined;

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open('parlance', 3);
  request.onupgradeneeded = () => {
    const { result: db } = request;
    for (const name of storeNames) if (!db.objectStoreNames.contains(name)) db.createObjectStore(name);
  };
  const db = await promiseOf(request);
  db.onversionchange = db.onclose = () => forget(db);
  return db;
}

/** The next transaction opens another connection. */
function forget(db?: IDBDatabase): void {
  db?.close();
  opened = undefined;
}

export interface Store<Value> {
  get(id: string): Promise<Value | undefined>;
  getAll(): Promise<readonly Value[]>;
  getAllKeys(): Promise<readonly string[]>;
  put(value: Value, id: string): Promise<unknown>;
  delete(id: string): Promise<unknown>;
  clear(): Promise<unknown>;
}

export type Stores<Name extends StoreName> = { readonly [N in Name]: Store<Values[N]> };

/**
 * Resolves with the result of `work` once the transaction is complete. `work` must not wait for anything except the
 * stores. Rejects where the browser refuses storage, as some do in private windows, and when it is full.
 */
export async function transact<const Name extends StoreName, Result>(
  names: readonly Name[],
  mode: 'readonly' | 'readwrite',
  work: (stores: Stores<Name>) => Promise<Result>,
): Promise<Result> {
  let db: IDBDatabase | undefined;
  try {
    db = await (opened ??= open());
    const transaction = db.transaction(names, mode);
    const complete = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new DOMException());
    });
    const stores = Object.fromEntries(names.map((name) => [name, storeOf(transaction.objectStore(name))]));
    const [result] = await Promise.all([work(stores as unknown as Stores<Name>), complete]);
    return result;
  } catch (error) {
    forget(db); // the connection may be lost
    throw error;
  }
}

/** An IDBObjectStore with promises. */
const storeOf = (store: IDBObjectStore): Store<unknown> => ({
  get: (id) => promiseOf(store.get(id)),
  getAll: () => promiseOf(store.getAll()),
  getAllKeys: () => promiseOf(store.getAllKeys() as IDBRequest<string[]>),
  put: (value, id) => promiseOf(store.put(value, id)),
  delete: (id) => promiseOf(store.delete(id)),
  clear: () => promiseOf(store.clear()),
});

function promiseOf<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new DOMException());
  });
}

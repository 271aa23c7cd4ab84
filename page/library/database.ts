/** The IndexedDB of the page. The list is apart from the contents, so that it is read without them. */
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { Content, Entry } from './entry.ts';

/** A recording that failed to transcribe. */
export interface FailedRecording {
  readonly file: File;
  /** Its transcript belongs into the message. */
  readonly isDictated?: boolean;
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Schema extends DBSchema {
  entries: { key: string; value: Entry };
  contents: { key: string; value: Content };
  /** Searchable texts, without case and accents. */
  texts: { key: string; value: string };
  /** The recordings of transcripts. */
  files: { key: string; value: File };
  recordings: { key: string; value: FailedRecording };
}

export type Database = IDBPDatabase<Schema>;

export const stores = ['entries', 'contents', 'texts', 'files', 'recordings'] as const;

let opened: Promise<Database> | undefined;

/** Rejects where the browser refuses storage, as some do in private windows. */
export const database = (): Promise<Database> => (opened ??= open());

function open(): Promise<Database> {
  return new Promise((resolve, reject) => {
    openDB<Schema>('parlance', 3, {
      upgrade: (db) => {
        for (const name of stores) if (!db.objectStoreNames.contains(name)) db.createObjectStore(name);
      },
      blocked: () => reject(new Error('Another tab has an older version of this page open.')),
      blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
      terminated: () => (opened = undefined),
    }).then(resolve, reject);
  });
}

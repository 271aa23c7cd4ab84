/** Everything that this browser keeps: exported, imported and deleted in one place. */
import { signal } from '@preact/signals';
import { announce } from './announcements.ts';
import { failureOf } from './failure.ts';
import { key } from './key.ts';
import { fromArchive, maxArchiveBytes, toArchive } from './library/archive.ts';
import { add, entries, readAll, refresh } from './library/library.ts';
import { ownerOf } from './library/owner.ts';
import { deleteConversations } from './open-conversation.ts';
import { forgetRecordings } from './reader/recordings.ts';
import { defaults } from './preference-storage.ts';
import { prefer, preferences } from './preferences.ts';
import { saveFile } from './save-file.ts';

/** The result of the last export, import or deletion, as a sentence. */
export const outcome = signal<string | undefined>(undefined);

function report(text: string): void {
  outcome.value = text;
  announce(text);
}

export async function exportAll(): Promise<void> {
  const all = await readAll();
  const name = `parlance-${new Date().toISOString().slice(0, 10)}.json`;
  saveFile(new File([toArchive(all, preferences.value)], name, { type: 'application/json' }));
  report(`Exported: ${countOf(all.length)}.`);
}

export async function importFile(file: File): Promise<void> {
  try {
    if (file.size > maxArchiveBytes) throw new Error('This file is too large. The limit is 100 MB.');
    await refresh();
    const { added, known, refused, options } = fromArchive(await file.text(), entries.value ?? [], ownerOf(key.value));
    if (!(await add(added))) throw new Error('This browser has refused to keep the conversations.');
    prefer(options);
    const notes = [known > 0 && `${known} are here already`, refused > 0 && `${refused} are invalid`].filter(Boolean);
    report(`Imported: ${[countOf(added.length), ...notes].join(', ')}.`);
  } catch (error) {
    report(failureOf(error).text);
  }
}

/** Does not delete the key, which has its own button. */
export async function deleteEverything(): Promise<void> {
  forgetRecordings(); // first, so that no pending write stores them again
  await deleteConversations();
  prefer({ ...Object.fromEntries(Object.keys(preferences.value).map((name) => [name, undefined])), ...defaults });
  report('Everything is deleted.');
}

const countOf = (count: number) => (count === 1 ? '1 conversation' : `${count} conversations`);

/** The search in the list. */
import { effect, signal } from '@preact/signals';
import { entries, search } from './library.ts';

export const query = signal('');

/** Ids of the entries with every word; undefined without a search. */
export const found = signal<ReadonlySet<string> | undefined>(undefined);

let last = 0;

effect(() => {
  const text = query.value.trim();
  const mine = ++last;
  if (text === '' || !entries.value) found.value = undefined;
  // Searches again after each change of the list, which may contain new words.
  else void search(text).then((ids) => mine === last && (found.value = ids));
});

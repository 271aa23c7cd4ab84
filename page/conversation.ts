/** Keeps the conversation in the tab, and saves it as a file. */
import { effect, untracked } from '@preact/signals';
import { key } from './key.ts';
import { toMarkdown } from './markdown-file.ts';
import { forgetRemoved, removed } from './new-conversation.ts';
import { isAnswering, restore, startOver, turns } from './run.ts';
import { saveFile } from './save-file.ts';
import { storedTurns, storeTurns } from './stored-conversation.ts';

const storage = () => sessionStorage;

/** An answer that breaks off with the page was stopped, and has not failed. */
let isLeaving = false;

function store(): void {
  if (!isLeaving) storeTurns(storage, removed.peek() ?? turns.peek(), key.peek());
}

/** Written when a question or an answer is complete, and when the page may go: each write copies the whole text. */
export function keepConversation(): void {
  restore(storedTurns(storage, key.peek()));
  effect(() => {
    // Read, so that each change of it counts; not while each word changes it.
    const shown = isAnswering.value ? undefined : (removed.value ?? turns.value);
    if (shown) untracked(store);
  });
  let owner = key.peek();
  effect(() => {
    if (key.value === owner) return;
    owner = key.value;
    untracked(startOver); // another key, another person
    forgetRemoved();
  });
  addEventListener('pagehide', () => {
    store();
    isLeaving = true;
  });
  addEventListener('pageshow', () => (isLeaving = false));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') store();
  });
}

export function saveConversation(): void {
  const now = new Date();
  const name = `conversation-${now.toISOString().slice(0, 16).replace(/\D/g, '-')}.md`;
  saveFile(new File([toMarkdown(turns.value, now)], name, { type: 'text/markdown' }));
}

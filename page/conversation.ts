/** Keeps the conversation in the tab, starts a new one, and saves it as a file. */
import { batch, effect, signal, untracked } from '@preact/signals';
import { announce } from './announcements.ts';
import { isRunning, stop, toMarkdown, type Turn } from './conversation-state.ts';
import { key } from './key.ts';
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
  effect(() => {
    if (turns.value.length > 0) forgetRemoved(); // the new conversation has begun
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

/** A new conversation can be undone for ten seconds, also after a reload of the tab. */
const undoMs = 10_000;

/** The conversation that can be brought back. */
export const removed = signal<readonly Turn[] | undefined>(undefined);

let forgetting: ReturnType<typeof setTimeout> | undefined;

export function startNewConversation(): void {
  batch(() => {
    removed.value = turns.value.map((turn) => (isRunning(turn) ? stop(turn) : turn));
    startOver();
  });
  clearTimeout(forgetting);
  forgetting = setTimeout(forgetRemoved, undoMs);
  announce('Conversation deleted.');
}

export function undo(): void {
  if (removed.value) restore(removed.value);
  announce('Conversation restored.');
}

export function forgetRemoved(): void {
  removed.value = undefined;
}

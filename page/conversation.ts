/** Keeps the conversation in the tab, changes it so that the change can be undone, and saves it as a file. */
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { announce } from './announcements.ts';
import { isRunning, stop, textOf, toMarkdown, type Question, type Turn } from './conversation-state.ts';
import { key } from './key.ts';
import { stopPlayback, unlock } from './playback.ts';
import { askAgain, askInstead, isAnswering, restore, startOver, turns } from './run.ts';
import { saveFile } from './save-file.ts';
import { storedTurns, storeTurns } from './stored-conversation.ts';

const storage = () => sessionStorage;

/** An answer that breaks off with the page was stopped, and has not failed. */
let isLeaving = false;

function store(): void {
  if (!isLeaving) storeTurns(storage, kept.peek(), key.peek());
}

/** Written when a question or an answer is complete, and when the page may go: each write copies the whole text. */
export function keepConversation(): void {
  restore(storedTurns(storage, key.peek()));
  effect(() => {
    // Read, so that each change of it counts; not while each word changes it.
    const complete = isAnswering.value ? undefined : kept.value;
    if (complete) untracked(store);
  });
  let owner = key.peek();
  effect(() => {
    if (key.value === owner) return;
    owner = key.value;
    untracked(startOver); // another key, another person
    forgetRemoved();
  });
  effect(() => {
    if (removed.value?.question !== lastQuestion.value) forgetRemoved(); // the conversation has gone on
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

/** A change can be undone for ten seconds. */
const undoMs = 10_000;

interface Removed {
  /** The conversation before the change. */
  readonly turns: readonly Turn[];
  /** Tells the user what the change was. */
  readonly text: string;
  /** The last question after the change. */
  readonly question: Question | undefined;
}

export const removed = signal<Removed | undefined>(undefined);

const lastQuestion = computed(() => turns.value.findLast((turn) => turn.role === 'user'));

/** A new conversation can be undone after a reload of the tab, too. */
const kept = computed(() => (turns.value.length === 0 && removed.value ? removed.value.turns : turns.value));

let forgetting: ReturnType<typeof setTimeout> | undefined;

export function startNewConversation(): void {
  batch(() => {
    const before = turns.value;
    startOver();
    offerUndo(before, 'Conversation deleted.');
  });
}

export function editQuestion(question: Question, text: string): void {
  replace('Message edited. What followed it was deleted.', () => askInstead(question, text));
}

export function regenerate(): void {
  if (!isAnswering.value) replace('Answer replaced.', askAgain); // a second click comes while the first is answered
}

/** Call this in a click: the new answer may be read aloud. */
function replace(text: string, start: () => Promise<void>): void {
  const before = turns.value;
  stopPlayback();
  unlock();
  void start();
  const lost = before.filter((turn) => !turns.value.includes(turn));
  if (lost.some((turn) => textOf(turn).trim() !== '')) offerUndo(before, text);
}

function offerUndo(before: readonly Turn[], text: string): void {
  const stopped = before.map((turn) => (isRunning(turn) ? stop(turn) : turn));
  removed.value = { turns: stopped, text, question: lastQuestion.value };
  clearTimeout(forgetting);
  forgetting = setTimeout(forgetRemoved, undoMs);
  announce(text);
}

export function undo(): void {
  const before = removed.value?.turns;
  if (!before) return;
  stopPlayback();
  batch(() => {
    startOver();
    forgetRemoved();
    restore(before);
  });
  announce('Conversation restored.');
}

export function forgetRemoved(): void {
  removed.value = undefined;
}

/** The conversation on the screen and its entry in the library: opened, saved while it grows, followed in other tabs. */
import { computed, effect, signal, untracked } from '@preact/signals';
import { announce } from './announcements.ts';
import type { Turn } from './conversation-state.ts';
import { attempt, key } from './key.ts';
import { newId } from './library/entry.ts';
import { change, deleteAll, read, remove, save, type Change } from './library/library.ts';
import { ownerOf } from './library/owner.ts';
import { searchTextOf, titleOf, toStored, toTurns } from './library/stored-turns.ts';
import { isAnswering, newTurnId, restore, startOver, stopAnswer, turns } from './run.ts';

interface Kept {
  id: string;
  /** The owner when the conversation was begun or opened. The user may have entered another key before a write. */
  readonly owner: string;
  /** 0 until it is saved for the first time. */
  revision: number;
  /** The turns that were saved or read last. */
  turns: readonly Turn[];
}

const unsaved = (): Kept => ({ id: newId(), owner: ownerOf(key.peek()), revision: 0, turns: [] });

let current = unsaved();

/** The id of the conversation in the list, once it is there. */
export const openId = signal(current.id);
export const isOpening = signal(false);
/** A message for the user about a change by another tab to the conversation on the screen. */
export const surprise = signal<string | undefined>(undefined);

const surprises = {
  changed: 'Another tab has changed this conversation at the same time. This one continues as a copy.',
  deleted: 'This conversation was deleted in another tab. Your next message keeps it again.',
} as const;

const tabItem = 'parlance-conversation';
/** A reload in the middle of an answer loses at most the words of this interval. */
const saveMs = 1_000;

/** Runs reads and writes one after another. */
let queue: Promise<unknown> = Promise.resolve();
let timer: ReturnType<typeof setTimeout> | undefined;
/** True while the page closes: an answer that breaks off then counts as stopped, not as failed. */
let isLeaving = false;

const lastQuestion = computed(() => turns.value.findLast(({ role }) => role === 'user'));

/** Opens the conversation that the tab had before a reload. */
export function keepConversation(): void {
  const id = attempt(() => sessionStorage.getItem(tabItem));
  if (id != null) void openConversation(id);
  effect(() => attempt(() => sessionStorage.setItem(tabItem, openId.value)));
  effect(() => {
    if (lastQuestion.value || !isAnswering.value) untracked(saveNow);
  });
  effect(() => {
    if (!isAnswering.value) saveNow();
    else if (turns.value.length > 0) timer ??= setTimeout(saveNow, saveMs);
  });
  let owner = key.peek();
  effect(() => {
    if (key.value === owner) return;
    owner = key.value;
    untracked(startNewConversation); // another key may mean another person
  });
  effect(() => {
    const last = change.value;
    if (last) void enqueue(() => follow(last));
  });
  addEventListener('pagehide', () => {
    saveNow();
    isLeaving = true;
  });
  addEventListener('pageshow', () => (isLeaving = false));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') saveNow();
  });
}

const enqueue = (work: () => Promise<unknown> | undefined): Promise<unknown> => (queue = queue.then(work, work));

function saveNow(): void {
  clearTimeout(timer);
  timer = undefined;
  const [kept, all, isComplete] = [current, turns.value, !isAnswering.value];
  if (isLeaving || all.length === 0 || all === kept.turns) return;
  kept.turns = all;
  void enqueue(() => write(kept, all, isComplete));
}

async function write(kept: Kept, all: readonly Turn[], isComplete: boolean): Promise<void> {
  const stored = all.map(toStored);
  const title = titleOf(stored);
  const { id, owner, revision } = kept;
  const searchText = searchTextOf(title, stored);
  const draft = { kind: 'chat', id, owner, revision, title, turns: stored, searchText } as const;
  const outcome = await save(draft, isComplete);
  if (outcome === 'saved') kept.revision += 1;
  if (outcome !== 'changed' && outcome !== 'deleted') return;
  becomeNew(kept, surprises[outcome]);
  await write(kept, all, isComplete);
}

/** Nothing on the screen is lost: the next write creates a new entry. */
function becomeNew(kept: Kept, text: string): void {
  kept.id = newId();
  kept.revision = 0;
  if (kept !== current) return;
  openId.value = kept.id;
  surprise.value = text;
  announce(text);
}

/** A running answer is not replaced; when it ends, it is saved as a copy. */
async function follow({ id, isDeleted }: Change): Promise<void> {
  if ((id !== undefined && id !== current.id) || current.revision === 0) return;
  if (isDeleted) return becomeNew(current, surprises.deleted);
  if (!isAnswering.value && turns.value === current.turns) await show(current);
}

async function show(kept: Kept): Promise<boolean> {
  const whole = await read(kept.id);
  if (kept !== current || turns.value !== kept.turns) return true; // the user has continued
  if (whole?.entry.kind !== 'chat') return false;
  kept.revision = whole.entry.revision;
  kept.turns = toTurns(whole.content.turns, turns.value, newTurnId);
  restore(kept.turns);
  return true;
}

/** Stops the running answer, and keeps the part that has arrived. */
function leaveFor(kept: Kept): void {
  stopAnswer();
  saveNow();
  current = kept;
  startOver();
  openId.value = kept.id;
  surprise.value = undefined;
}

export const startNewConversation = (): void => leaveFor(unsaved());

export async function openConversation(id: string): Promise<void> {
  if (id === current.id) return;
  const kept = { ...unsaved(), id };
  leaveFor(kept);
  kept.turns = turns.value;
  isOpening.value = true;
  const isShown = await enqueue(() => show(kept));
  isOpening.value = false;
  if (isShown !== true && kept === current) startNewConversation(); // it is gone, or belongs to another key
}

/** `undoRemoval` restores it. */
export async function deleteConversation(id: string): Promise<void> {
  if (id === current.id) startNewConversation();
  await enqueue(() => remove(id));
}

/** Deletes the conversations and transcripts of all keys, and what is still to be written of this conversation. */
export async function deleteConversations(): Promise<void> {
  startNewConversation();
  await enqueue(deleteAll);
}

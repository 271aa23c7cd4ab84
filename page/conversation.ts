/** Changes the conversation so that the change can be undone, and saves it as a file. */
import { batch, computed, effect, signal } from '@preact/signals';
import { announce } from './announcements.ts';
import { isRunning, stop, textOf, toMarkdown, type Question, type Turn } from './conversation-state.ts';
import { stopPlayback, unlock } from './playback.ts';
import { askAgain, askInstead, isAnswering, restore, startOver, turns } from './run.ts';
import { saveFile } from './save-file.ts';

export function saveConversation(): void {
  const now = new Date();
  const name = `conversation-${now.toISOString().slice(0, 16).replace(/\D/g, '-')}.md`;
  saveFile(new File([toMarkdown(turns.value, now)], name, { type: 'text/markdown' }));
}

/** A change can be undone for ten seconds. */
const undoMs = 10_000;

interface Replaced {
  /** The conversation before the change. */
  readonly turns: readonly Turn[];
  /** Describes the change to the user. */
  readonly text: string;
  /** The last question after the change. */
  readonly question: Question | undefined;
}

export const replaced = signal<Replaced | undefined>(undefined);

const lastQuestion = computed(() => turns.value.findLast((turn) => turn.role === 'user'));

// The change cannot be undone once the conversation has continued or another one is open.
effect(() => {
  if (replaced.value?.question !== lastQuestion.value) forgetReplaced();
});

let forgetting: ReturnType<typeof setTimeout> | undefined;

export function editQuestion(question: Question, text: string): void {
  replace('Message edited. What followed it was deleted.', () => askInstead(question, text));
}

export function regenerate(): void {
  if (!isAnswering.value) replace('Answer replaced.', askAgain); // a second click may come during the answer
}

/** Call this in a click handler, because the new answer may be read aloud. */
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
  replaced.value = { turns: stopped, text, question: lastQuestion.value };
  clearTimeout(forgetting);
  forgetting = setTimeout(forgetReplaced, undoMs);
  announce(text);
}

export function undo(): void {
  const before = replaced.value?.turns;
  if (!before) return;
  stopPlayback();
  batch(() => {
    startOver();
    forgetReplaced();
    restore(before);
  });
  announce('Conversation restored.');
}

export function forgetReplaced(): void {
  replaced.value = undefined;
}

/** Begins a new conversation. For ten seconds the one before can be brought back, also by a reload of the tab. */
import { batch, effect, signal } from '@preact/signals';
import { announce } from './announcements.ts';
import { isRunning, stop, type Turn } from './conversation-state.ts';
import { restore, startOver, turns } from './run.ts';

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

/** A conversation that has begun takes the place of the last one. */
export function watchNewConversation(): void {
  effect(() => {
    if (turns.value.length > 0) forgetRemoved();
  });
}

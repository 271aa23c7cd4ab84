/** Keeps the end of the conversation in view, until the user scrolls up. */
import { effect, signal } from '@preact/signals';
import { openedId } from '../reader/recordings.ts';
import { isAnswering, turns } from '../run.ts';

const isFollowing = signal(true);

/** True if text arrives, or has arrived, below the part that the user reads. */
export const isBehind = signal(false);

effect(() => {
  const isAway = !isFollowing.value && turns.value.length > 0;
  isBehind.value = isAway && (isAnswering.value || isBehind.peek());
});

/** The reader has its own scrolling. When it is closed, the end of the conversation is shown. */
const isReading = () => openedId.peek() !== undefined;

/**
 * After scrolling down, a position near the end counts as the end; otherwise only the exact end does, give or take the
 * rounding of zoomed browsers.
 */
const nearPx = 80;
const exactPx = 2;

let lastTop = 0;

/**
 * Any scroll upward stops auto-scrolling; otherwise, the next word would undo it. The browser itself scrolls up when
 * the end moves up.
 */
function look(): void {
  if (isReading()) return;
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
  const rest = scrollHeight - scrollTop - clientHeight;
  const isAtEnd = rest < (scrollTop > lastTop ? nearPx : exactPx);
  isFollowing.value = isAtEnd || (isFollowing.value && scrollTop >= lastTop);
  lastTop = scrollTop;
}

addEventListener('scroll', look);

// Runs once per frame, after its layout: a layout for each word would be slow in a long answer.
new ResizeObserver(() => {
  if (isReading()) isFollowing.value = true;
  else if (isFollowing.value && turns.peek().length > 0) scrollToEnd();
  else look();
}).observe(document.body);

export function scrollToEnd(): void {
  isFollowing.value = true;
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
  lastTop = document.documentElement.scrollTop;
}

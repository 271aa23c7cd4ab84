/** Keeps the end of the conversation in view, unless the user has scrolled away from it. */
import { turns } from '../run.ts';

let isAtEnd = true;

const nearPx = 80;

addEventListener('scroll', () => {
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
  isAtEnd = scrollHeight - scrollTop - clientHeight < nearPx;
});

// Notices above the composer must not cover the end.
new ResizeObserver(() => {
  if (isAutoScrolling()) scrollToEnd();
}).observe(document.body);

export const isAutoScrolling = (): boolean => isAtEnd && turns.peek().length > 0;

export function scrollToEnd(): void {
  isAtEnd = true;
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
}

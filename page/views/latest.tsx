/** A button that leads back to the end of the conversation. */
import { keepFocus } from '../draft.ts';
import { isBehind, scrollToEnd } from './auto-scroll.ts';
import { Icon } from './icons.tsx';

export function Latest() {
  if (!isBehind.value) return null;
  return (
    <button
      type="button"
      class="latest outlined"
      onClick={() => {
        scrollToEnd();
        keepFocus();
      }}
    >
      <Icon name="down" />
      <span>Jump to the latest</span>
    </button>
  );
}

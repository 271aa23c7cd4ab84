/** The text in the composer. */
import { signal } from '@preact/signals';

export const draft = signal('');

export const draftId = 'message';

/** A transcript is added to what is there already. */
export function addToDraft(text: string): void {
  draft.value = [draft.value.trimEnd(), text].filter((part) => part !== '').join(' ');
}

export function focusDraft(): void {
  const place = document.getElementById(draftId);
  if (!(place instanceof HTMLTextAreaElement)) return;
  place.focus();
  place.setSelectionRange(place.value.length, place.value.length);
}

export const hasKeyboard = matchMedia('(pointer: fine)').matches;

/** For a button that goes away. On a touch screen the keyboard would cover the page. */
export function keepFocus(): void {
  if (hasKeyboard) focusDraft();
}

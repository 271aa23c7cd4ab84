/** The text in the composer, and its keyboard focus. */
import { signal } from '@preact/signals';
import { separatorOf } from '../lib/join-texts.ts';

export const draft = signal('');

export const draftId = 'message';

/** Adds a transcript to the text that is already there. */
export function addToDraft(text: string): void {
  const before = draft.value.trimEnd();
  draft.value = before + separatorOf(before, text) + text;
}

export function focusDraft(): void {
  focusEnd(draftId);
}

/** Puts the cursor after the text of a field. */
export function focusEnd(id: string): void {
  const place = document.getElementById(id);
  if (!(place instanceof HTMLTextAreaElement)) return;
  place.focus();
  place.setSelectionRange(place.value.length, place.value.length);
}

export const hasKeyboard = matchMedia('(pointer: fine)').matches;

/**
 * Moves the focus to the composer when a button disappears. Does nothing on a touch screen, where the keyboard would
 * cover the page.
 */
export function keepFocus(): void {
  if (hasKeyboard) focusDraft();
}

/** True for a key of an input method, which ends or drops a word that is being composed. */
export function isComposing(event: KeyboardEvent): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Safari ends the composition first; only this is left
  return event.isComposing || event.keyCode === 229;
}

/** A transcript that the next question is about. */
import { signal } from '@preact/signals';
import type { About } from './conversation-state.ts';

export const about = signal<About | undefined>(undefined);

export function takeAbout(): About | undefined {
  const { value } = about;
  about.value = undefined;
  return value;
}

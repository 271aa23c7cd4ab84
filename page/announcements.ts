/** Announcements for screen readers: one short sentence per change, never a growing text. */
import { signal } from '@preact/signals';

export const announcement = signal('');

export function announce(text: string): void {
  announcement.value = text;
}

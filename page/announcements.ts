/** What a screen reader is told: one short sentence per change, never a growing text. */
import { signal } from '@preact/signals';

export const status = signal('');

export function say(text: string): void {
  status.value = text;
}

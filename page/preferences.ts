/** The user's settings, kept on this device. */
import { signal } from '@preact/signals';
import { readPreferences, writePreferences, type Preferences } from './preference-storage.ts';

const storage = () => localStorage;

export const preferences = signal<Preferences>(readPreferences(storage));

// Another tab has changed the settings.
addEventListener('storage', () => (preferences.value = readPreferences(storage)));

export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes };
  writePreferences(storage, preferences.value);
}

/** The user's settings, kept on this device. */
import { effect, signal } from '@preact/signals';
import { readPreferences, writePreferences, type Preferences } from './preference-storage.ts';

const storage = () => localStorage;

export const preferences = signal<Preferences>(readPreferences(storage));

effect(() => writePreferences(storage, preferences.value));

export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes };
}

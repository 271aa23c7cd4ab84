/** The user's settings, kept on this device. */
import { effect, signal } from '@preact/signals';
import { readSettings, writeSettings, type Settings } from './preference-storage.ts';

const storage = () => localStorage;

export const settings = signal<Settings>(readSettings(storage));

effect(() => writeSettings(storage, settings.value));

export function prefer(changes: Partial<Settings>): void {
  settings.value = { ...settings.value, ...changes };
}

/** Sorts and searches the voices of a model. Pure. */
import type { SpeechModelEntry } from '../src/client/index.ts';
import { nameOfLanguage } from './languages.ts';

export interface ListedVoice {
  readonly id: string;
  readonly name: string;
  /** In English, as the page is; "" for a voice of several languages, or of one without a code. */
  readonly language: string;
}

/** By language and name; those of several languages, or of one without a code, are last. */
export function listVoices(entry: SpeechModelEntry | undefined): readonly ListedVoice[] {
  const voices = (entry?.voices ?? []).map(({ id, name, language }) => ({
    ...{ id, name },
    language: language === null ? '' : nameOfLanguage(language),
  }));
  const { compare } = new Intl.Collator('en', { numeric: true });
  const isLast = ({ language }: ListedVoice) => Number(language === '');
  return voices.sort((a, b) => isLast(a) - isLast(b) || compare(a.language, b.language) || compare(a.name, b.name));
}

/** Returns voices whose name, language or id contains every word. */
export function searchVoices(voices: readonly ListedVoice[], query: string): readonly ListedVoice[] {
  const words = plain(query).split(/\s+/);
  return voices.filter(({ id, name, language }) => {
    const text = plain(`${name} ${language} ${id}`);
    return words.every((word) => text.includes(word));
  });
}

/** The name of the default voice, where it is known. */
export function nameOfDefault(entry: SpeechModelEntry | undefined): string {
  const id = entry?.default_voice ?? undefined;
  return entry?.voices.find((voice) => voice.id === id)?.name ?? id ?? 'Default';
}

/** Removes case and accents. */
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

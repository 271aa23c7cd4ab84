/** Sorts and searches the voices of a model. Pure. */
import type { Preparation, SpeechModelEntry } from '../src/client/index.ts';
import { nameOfLanguage, otherLanguage } from './languages.ts';
import { plain } from './library/stored-turns.ts';

export interface ListedVoice {
  readonly id: string;
  readonly name: string;
  /** In English, as the page is; "" for a voice of several languages, or of a language without a code. */
  readonly language: string;
}

/** Sorts voices by language and name; voices of several languages, or of a language without a code, are last. */
export function listVoices(entry: SpeechModelEntry | undefined): readonly ListedVoice[] {
  const voices = (entry?.voices ?? []).map(({ id, name, language }) => ({
    ...{ id, name },
    language: language === null ? '' : nameOfLanguage(language),
  }));
  const { compare } = new Intl.Collator('en', { numeric: true });
  const last = [otherLanguage, ''];
  const rank = ({ language }: ListedVoice) => last.indexOf(language);
  return voices.sort((a, b) => rank(a) - rank(b) || compare(a.language, b.language) || compare(a.name, b.name));
}

/** Returns voices whose name, language or id contains every word. */
export function searchVoices(voices: readonly ListedVoice[], query: string): readonly ListedVoice[] {
  const matches = matcherOf(query);
  return voices.filter(({ id, name, language }) => matches(`${name} ${language} ${id}`));
}

/** Returns voices to install whose title, purpose or id contains every word. */
export function searchOffers(offers: readonly Preparation[], query: string): readonly Preparation[] {
  const matches = matcherOf(query);
  return offers.filter(({ id, title, purpose }) => matches(`${title} ${purpose} ${id}`));
}

function matcherOf(query: string): (text: string) => boolean {
  const words = plain(query).split(/\s+/);
  return (text) => words.every((word) => plain(text).includes(word));
}

/** The name of the default voice, where it is known. */
export function nameOfDefault(entry: SpeechModelEntry | undefined): string {
  const id = entry?.default_voice ?? undefined;
  return entry?.voices.find((voice) => voice.id === id)?.name ?? id ?? 'Default';
}

/** Prefix of the ids of the sounds that let the user listen to a voice. */
export const previewSound = 'voice';

const samples: ReadonlyMap<string, string> = new Map([
  ['de', 'Hallo! So klingt diese Stimme.'],
  ['en', 'Hello! This is how this voice sounds.'],
  ['es', '¡Hola! Así suena esta voz.'],
  ['fr', 'Bonjour ! Voici comment sonne cette voix.'],
  ['it', 'Ciao! Ecco come suona questa voce.'],
  ['nl', 'Hallo! Zo klinkt deze stem.'],
  ['pl', 'Cześć! Tak brzmi ten głos.'],
  ['pt', 'Olá! É assim que esta voz soa.'],
]);

/**
 * A sentence in the language of a voice, in English if it speaks several; otherwise digits, which every voice can say.
 */
export function sampleOf(entry: SpeechModelEntry | undefined, id: string | null | undefined): string {
  const language = entry?.voices.find((voice) => voice.id === id)?.language ?? 'en';
  return samples.get(language.split('-')[0] ?? '') ?? '1, 2, 3, 4, 5.';
}

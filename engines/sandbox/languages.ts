/** The languages that the sandbox hears and speaks: few, so that a consumer can also meet one that it does not know. */
export interface Language {
  /** ISO 639-1; also the id of its voice. */
  readonly code: string;
  readonly name: string;
  /** What every recording says. */
  readonly transcript: string;
  /** Hz, of its voice. */
  readonly pitch: number;
}

/** The first one is heard when the caller gives no hint. */
export const languages: readonly [Language, ...Language[]] = [
  { code: 'en', name: 'English', transcript: 'The sandbox has heard a recording.', pitch: 440 },
  { code: 'de', name: 'German', transcript: 'Die Sandbox hat eine Aufnahme gehört.', pitch: 330 },
  { code: 'es', name: 'Spanish', transcript: 'El sandbox ha oído una grabación.', pitch: 550 },
  { code: 'fr', name: 'French', transcript: 'Le bac à sable a entendu un enregistrement.', pitch: 660 },
];

export function findLanguage(code: string): Language | undefined {
  return languages.find((language) => language.code === code);
}

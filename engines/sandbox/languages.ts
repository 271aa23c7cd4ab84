/** Languages of the sandbox. Only a few, so that clients can also test an unsupported one. */
export interface Language {
  /** ISO 639-1 code; also the id of the voice. */
  readonly code: string;
  readonly name: string;
  /** Transcript of audio that the sandbox has not synthesized, in segments. */
  readonly segments: readonly string[];
}

/** The first is the default for transcription and speech. */
export const languages: readonly [Language, ...Language[]] = [
  { code: 'en', name: 'English', segments: ['The sandbox', 'has heard', 'a recording.'] },
  { code: 'de', name: 'German', segments: ['Die Sandbox', 'hat eine Aufnahme', 'gehört.'] },
  { code: 'es', name: 'Spanish', segments: ['El sandbox', 'ha oído', 'una grabación.'] },
  { code: 'fr', name: 'French', segments: ['Le bac à sable', 'a entendu', 'un enregistrement.'] },
];

export function findLanguage(code: string): Language | undefined {
  return languages.find((language) => language.code === code);
}

/** Languages of the sandbox. Only a few, so that consumers can also test an unsupported one. */
export interface Language {
  /** ISO 639-1 code; also the id of the voice. */
  readonly code: string;
  readonly name: string;
  /** Transcript of every recording, in segments. */
  readonly segments: readonly string[];
  /** Pitch of the voice, in Hz. */
  readonly pitch: number;
}

/** The first is the default for transcription. */
export const languages: readonly [Language, ...Language[]] = [
  { code: 'en', name: 'English', segments: ['The sandbox', 'has heard', 'a recording.'], pitch: 440 },
  { code: 'de', name: 'German', segments: ['Die Sandbox', 'hat eine Aufnahme', 'gehört.'], pitch: 330 },
  { code: 'es', name: 'Spanish', segments: ['El sandbox', 'ha oído', 'una grabación.'], pitch: 550 },
  { code: 'fr', name: 'French', segments: ['Le bac à sable', 'a entendu', 'un enregistrement.'], pitch: 660 },
];

export function findLanguage(code: string): Language | undefined {
  return languages.find((language) => language.code === code);
}

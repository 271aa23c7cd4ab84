/** Parses the table of `espeak-ng --voices`. */
import { EngineError, type SpeechCall, type Voice } from '../contract/index.ts';

export interface EspeakVoice extends Voice {
  /** Value of `-v`. */
  readonly file: string;
}

interface Row {
  /** The voice's own tag (`en-gb`) first, then other tags that it serves. A lower priority is a better match. */
  readonly tags: readonly { readonly tag: string; readonly priority: number }[];
  readonly name: string;
  readonly file: string;
}

/**
 * Returns one voice per row, whose id is its own tag, such as `en-gb`, and one per two-letter tag that is not such an
 * id, such as `en`, which uses the best matching voice. Sorted by id.
 */
export function readVoices(table: string): EspeakVoice[] {
  const rows = table.split('\n').flatMap(readRow);
  const voices = rows.map(({ tags, name, file }) => ({
    id: tags[0]?.tag ?? file,
    name,
    language: languageOf(tags),
    file,
  }));
  const languages = rows.flatMap(({ tags, file }) => tags.map(({ tag, priority }) => ({ tag, priority, file })));
  const general = languages
    .filter(({ tag }) => tag.length === 2)
    .sort((a, b) => a.priority - b.priority)
    .map(({ tag, file }) => ({ id: tag, name: nameOf(tag) ?? tag, language: toIso(tag), file }));
  const byId = new Map([...voices, ...general].reverse().map((voice) => [voice.id, voice])); // the first voice per id wins
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** ` 5  cmn  --/M  Chinese_(Mandarin)  sit/cmn  (zh-cmn 5)(zh 5)`: priority, tag, age and gender, name, file, others. */
function readRow(line: string): Row[] {
  const [, priority, tag, name, file, others] = /^ *(\d+) +(\S+) +\S+ +(\S+) +(\S+) *(.*)$/.exec(line) ?? [];
  if (priority === undefined || tag === undefined || name === undefined || file === undefined) return [];
  const also = [...(others ?? '').matchAll(/\((\S+) (\d+)\)/g)];
  const tags = [[line, tag, priority] as const, ...also].map(([, own = '', rank]) => ({
    tag: own.toLowerCase(),
    priority: Number(rank),
  }));
  return [{ tags, name: name.replaceAll('_', ' '), file }];
}

/** Returns the language of the voice's own tag, or else of another tag that it serves: Mandarin (`cmn`) serves `zh`. */
function languageOf(tags: Row['tags']): string | null {
  return tags.map(({ tag }) => toIso(tag)).find((language) => language !== null) ?? null;
}

/** ISO 639-1 code, or null if the language has none. */
function toIso(tag: string): string | null {
  const [language = ''] = tag.split('-');
  return language.length === 2 && nameOf(language) !== undefined ? language : null;
}

let languageNames: Intl.DisplayNames | undefined;

/** The names are loaded on first use, because loading takes 9 ms. */
function nameOf(language: string): string | undefined {
  languageNames ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  return languageNames.of(language);
}

/**
 * Returns the requested voice, or else a voice of the requested language, or else the default voice. Throws
 * `voice-not-supported`.
 */
export function chooseVoice(
  voices: readonly EspeakVoice[],
  { voice, language }: Pick<SpeechCall, 'voice' | 'language'>,
  defaultId: string,
): EspeakVoice {
  const byId = (id: string) => voices.find((candidate) => candidate.id === id);
  if (voice !== undefined) return byId(voice) ?? unknownVoice(voice);
  const defaultVoice = byId(defaultId) ?? unknownVoice(defaultId);
  if (language === undefined || language === defaultVoice.language) return defaultVoice;
  return byId(language) ?? voices.find((candidate) => candidate.language === language) ?? defaultVoice;
}

function unknownVoice(voice: string): never {
  throw new EngineError('voice-not-supported', `Unknown voice "${voice}"; the list of models contains all voices.`);
}

/** The voices of espeak-ng, out of the table that `espeak-ng --voices` prints. */
import { EngineError, type SpeechCall, type Voice } from '../contract/index.ts';

export interface EspeakVoice extends Voice {
  /** For `-v`. */
  readonly file: string;
}

interface Row {
  /** The voice's tag (`en-gb`) first, then others that it serves too; a lower priority is the better match. */
  readonly tags: readonly { readonly tag: string; readonly priority: number }[];
  readonly name: string;
  readonly file: string;
}

/**
 * One for each tag, such as `en-gb`; and one for each language of several tags, such as `en`, spoken by the voice that
 * fits it best. Sorted by id.
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
  const byId = new Map([...voices, ...general].reverse().map((voice) => [voice.id, voice])); // the first of an id stays
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

/** Of its own tag, else of another that it serves: Mandarin (`cmn`) serves `zh`. */
function languageOf(tags: Row['tags']): string | null {
  return tags.map(({ tag }) => toIso(tag)).find((language) => language !== null) ?? null;
}

/** ISO 639-1; null for a language that has no code there. */
function toIso(tag: string): string | null {
  const [language = ''] = tag.split('-');
  return language.length === 2 && nameOf(language) !== undefined ? language : null;
}

const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

function nameOf(language: string): string | undefined {
  return languageNames.of(language);
}

/** The voice that is named; else the default one, unless another language is wished for. Throws `voice-not-supported`. */
export function chooseVoice(
  voices: readonly EspeakVoice[],
  { voice, language }: Pick<SpeechCall, 'voice' | 'language'>,
  standard: string,
): EspeakVoice {
  const named = (id: string) => voices.find((candidate) => candidate.id === id);
  if (voice !== undefined) return named(voice) ?? refuse(voice);
  const usual = named(standard) ?? refuse(standard);
  if (language === undefined || language === usual.language) return usual;
  return named(language) ?? voices.find((candidate) => candidate.language === language) ?? usual;
}

function refuse(voice: string): never {
  throw new EngineError(
    'voice-not-supported',
    `There is no voice "${voice}"; the listing of the models names them all.`,
  );
}

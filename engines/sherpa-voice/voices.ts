/** The voices of the settings, and the speakers in their files, which requests name as voices. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EngineError, OptionsError, type EngineContext, type SpeechCall, type Voice } from '../contract/index.ts';
import { validNames } from '../../lib/did-you-mean.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import type { CatalogModel } from '../lib/catalog.ts';
import { catalog, part } from './catalog.ts';
import type { VoiceOptions } from './options.ts';
import { rememberPiper } from './piper.ts';
import type { UsableVoice, VoiceFile } from './voice-facts.ts';
import { rememberVoice } from './voice-folder.ts';

/** A voice of the settings. */
export interface VoiceSource {
  readonly id: string;
  readonly name?: string | undefined;
  /** Its entry in the catalog, if it can be downloaded. */
  readonly download?: CatalogModel;
  readonly inspect: () => Promise<VoiceFile>;
}

/** Throws an `OptionsError`. */
export function toSource(voice: string | VoiceOptions, context: EngineContext): VoiceSource {
  if (typeof voice !== 'string') return ownSource(voice, context);
  const download = catalog.find(voice);
  if (!download) {
    const known = validNames(catalog.ids, voice);
    throw new OptionsError(`voices: the catalog has no voice "${voice}"; ${known}; or an object with file or folder`);
  }
  const path = catalog.pathOf(voice, context);
  const isFolder = download.hasFolder === true;
  const inspect = isFolder ? rememberVoice(path) : rememberPiper(path);
  const model = isFolder ? join(path, basename(download.files.at(-1)?.path ?? '')) : path;
  const detail = `${voice} is not there: run \`${nameSetup(part)}\` to download it`;
  return { id: voice, download, inspect: async () => (existsSync(model) ? inspect() : { ok: false, detail }) };
}

function ownSource({ id, name, file, folder }: VoiceOptions, { resolve }: EngineContext): VoiceSource {
  if ((file === undefined) === (folder === undefined)) {
    const which = id === undefined ? 'an object' : `"${id}"`;
    throw new OptionsError(`voices: ${which} needs either file or folder; a voice of the catalog is its id alone`);
  }
  const inspect = file === undefined ? rememberVoice(resolve(folder ?? '')) : rememberPiper(resolve(file));
  return { id: id ?? basename(file ?? folder ?? '', '.onnx'), name, inspect };
}

export interface Speaker extends Voice {
  /** The id of its voice in the settings. */
  readonly voice: string;
  readonly file: UsableVoice;
  /** Index of the speaker within the voice file. */
  readonly speaker: number;
  readonly lang: string | undefined;
}

export function speakersOf(
  { id, name, download }: Pick<VoiceSource, 'id' | 'name' | 'download'>,
  file: UsableVoice,
): Speaker[] {
  return file.speakers.map(({ name: own, number, language, locale, lang }) => {
    const suffix = own === undefined ? '' : `/${own}`;
    const spoken = name === undefined ? languageName(locale) : undefined;
    const full = `${name ?? (file.title || id)}${suffix}${spoken === undefined ? '' : ` (${spoken})`}`;
    const title = own === undefined ? (download?.title ?? full) : full;
    return { id: `${id}${suffix}`, name: title, language, voice: id, file, speaker: number, lang };
  });
}

/** How a voice of the catalog is listed before it is downloaded. */
export const expectedVoices = ({ id, download }: VoiceSource): Voice[] =>
  download?.title === undefined ? [] : [{ id, name: download.title, language: id.slice(0, 2) }];

let names: Intl.DisplayNames | undefined;

/** The names are loaded on first use, because loading takes 9 ms. */
function languageName(locale: string): string | undefined {
  names ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  try {
    return names.of(locale);
  } catch {
    return undefined; // no language tag
  }
}

/**
 * Returns the requested voice, or else the default voice if it speaks the requested language, or else the first voice
 * that does; undefined if the requested or the default voice is not usable. Throws `language-not-supported`.
 */
export function chooseSpeaker(
  speakers: readonly Speaker[],
  { voice, language }: Pick<SpeechCall, 'voice' | 'language'>,
  defaultId: string | undefined,
): Speaker | undefined {
  const byId = (id: string) => speakers.find((speaker) => speaker.id === id);
  if (voice !== undefined) return byId(voice);
  const preferred = defaultId === undefined ? speakers[0] : byId(defaultId);
  if (language === undefined || preferred?.language === language) return preferred;
  return speakers.find((speaker) => speaker.language === language) ?? languageNotSupported(speakers, language);
}

function languageNotSupported(speakers: readonly Speaker[], language: string): never {
  const spoken = [...new Set(speakers.flatMap((speaker) => speaker.language ?? []))].sort().join(', ');
  const message = `No voice of this model speaks "${language}"; languages: ${spoken || 'none'}. The engine espeak has voices for most languages.`;
  throw new EngineError('language-not-supported', message);
}

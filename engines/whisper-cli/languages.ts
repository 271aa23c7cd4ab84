/** The languages of Whisper's multilingual models, in ISO 639-1 (whisper.cpp, `g_lang`). */
import { EngineError } from '../contract/index.ts';

const known = new Set(
  (
    'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
    'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu ' +
    'am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt ln ha ba jv su'
  ).split(' '),
);

/** Whisper's own name for a language, or undefined when it does not know it. */
function toWhisper(language: string): string | undefined {
  if (!known.has(language)) return undefined;
  return language === 'jv' ? 'jw' : language;
}

/** ISO 639-1, or null for Whisper's languages without such a code (Hawaiian, Cantonese). */
export function fromWhisper(code: string | undefined): string | null {
  const language = code === 'jw' ? 'jv' : code;
  return language !== undefined && known.has(language) ? language : null;
}

/**
 * What whisper-cli is told: the language that was asked for, else `auto` (its own default is English). Throws
 * `language-not-supported`.
 */
export function languageFor(language: string | undefined, multilingual: boolean, model: string): string {
  if (!multilingual) {
    if (language === undefined || language === 'en') return 'en';
    throw new EngineError('language-not-supported', `The model ${model} knows English (en) only, not "${language}".`);
  }
  if (language === undefined) return 'auto';
  const known = toWhisper(language);
  if (known !== undefined) return known;
  throw new EngineError('language-not-supported', `Whisper does not know the language "${language}".`);
}

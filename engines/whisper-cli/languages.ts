/** The languages of Whisper's multilingual models, in ISO 639-1 (whisper.cpp, `g_lang`). */
import { EngineError } from '../contract/index.ts';

const known = new Set(
  (
    'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
    'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu ' +
    'am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt ln ha ba jv su'
  ).split(' '),
);

/** Whisper's code of a language, or undefined if it is not supported. */
function toWhisper(language: string): string | undefined {
  if (!known.has(language)) return undefined;
  return language === 'jv' ? 'jw' : language;
}

/** ISO 639-1 code, or null for Whisper languages that have none (Hawaiian, Cantonese). */
export function fromWhisper(code: string | undefined): string | null {
  const language = code === 'jw' ? 'jv' : code;
  return language !== undefined && known.has(language) ? language : null;
}

/**
 * The value of whisper-cli's `-l`: the requested language, else `auto` (the program's own default is English). Throws
 * `language-not-supported`.
 */
export function languageFor(language: string | undefined, multilingual: boolean, model: string): string {
  if (!multilingual) {
    if (language === undefined || language === 'en') return 'en';
    throw new EngineError(
      'language-not-supported',
      `The model ${model} supports only English (en), not "${language}".`,
    );
  }
  if (language === undefined) return 'auto';
  const code = toWhisper(language);
  if (code !== undefined) return code;
  throw new EngineError('language-not-supported', `Whisper does not support the language "${language}".`);
}

/** The languages of Whisper's multilingual models, in ISO 639-1 (whisper.cpp, `g_lang`). */

const known = new Set(
  (
    'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
    'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu ' +
    'am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt ln ha ba jv su'
  ).split(' '),
);

/** Whisper's own name for a language, or undefined when it does not know it. */
export function toWhisper(language: string): string | undefined {
  if (!known.has(language)) return undefined;
  return language === 'jv' ? 'jw' : language;
}

/** ISO 639-1, or null for Whisper's languages without such a code (Hawaiian, Cantonese). */
export function fromWhisper(code: string | undefined): string | null {
  const language = code === 'jw' ? 'jv' : code;
  return language !== undefined && known.has(language) ? language : null;
}

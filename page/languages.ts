/** Names of languages, and the languages of recordings. Pure. */
import type { ModelEntry } from '../src/client/index.ts';

export interface Language {
  /** ISO 639-1, `haw` or `yue`. */
  readonly code: string;
  readonly name: string;
}

/** Whisper's languages, for models that do not list their own. */
export const usualLanguages: readonly string[] = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy ' +
  'sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo ' +
  'uz fo ht ps tk nn mt sa lb my bo tl mg as tt ln ha ba jv su'
).split(' ');

/** The languages that a recording may be in, sorted by name; `own`: the languages of the user. */
export function languagesOf(
  { languages: listed }: Pick<ModelEntry, 'languages'>,
  preferred: readonly string[],
): { readonly own: readonly Language[]; readonly others: readonly Language[] } {
  const languages: readonly string[] = listed ?? usualLanguages;
  const { compare } = new Intl.Collator('en');
  const all = languages.map((code) => ({ code, name: nameOfLanguage(code) })).sort((a, b) => compare(a.name, b.name));
  const isOwn = ({ code }: Language) => preferred.some((tag) => tag.split('-')[0] === code);
  return { own: all.filter(isOwn), others: all.filter((one) => !isOwn(one)) };
}

/** The name for a code that the browser does not know. */
export const otherLanguage = 'Another language';

let names: Intl.DisplayNames | undefined;

/** Returns the name in English, like the page; never the code. */
export function nameOfLanguage(code: string): string {
  names ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  for (const tag of [code, code.split('-')[0] ?? '']) {
    try {
      const name = names.of(tag);
      if (name !== undefined) return name;
    } catch {
      // Not a tag.
    }
  }
  return otherLanguage;
}

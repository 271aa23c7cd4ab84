/** Language names as providers and clients write them ("de", "de-DE", "german", "German", "deu"), and ISO 639-1. */

/** Whisper's languages by their English names (openai/whisper, tokenizer.py). Two have no ISO 639-1 code. */
const whisperNames: Readonly<Record<string, string | null>> = {
  ...{ english: 'en', chinese: 'zh', german: 'de', spanish: 'es', russian: 'ru', korean: 'ko', french: 'fr' },
  ...{ japanese: 'ja', portuguese: 'pt', turkish: 'tr', polish: 'pl', catalan: 'ca', dutch: 'nl', arabic: 'ar' },
  ...{ swedish: 'sv', italian: 'it', indonesian: 'id', hindi: 'hi', finnish: 'fi', vietnamese: 'vi', hebrew: 'he' },
  ...{ ukrainian: 'uk', greek: 'el', malay: 'ms', czech: 'cs', romanian: 'ro', danish: 'da', hungarian: 'hu' },
  ...{ tamil: 'ta', norwegian: 'no', thai: 'th', urdu: 'ur', croatian: 'hr', bulgarian: 'bg', lithuanian: 'lt' },
  ...{ latin: 'la', maori: 'mi', malayalam: 'ml', welsh: 'cy', slovak: 'sk', telugu: 'te', persian: 'fa' },
  ...{ latvian: 'lv', bengali: 'bn', serbian: 'sr', azerbaijani: 'az', slovenian: 'sl', kannada: 'kn' },
  ...{ estonian: 'et', macedonian: 'mk', breton: 'br', basque: 'eu', icelandic: 'is', armenian: 'hy', nepali: 'ne' },
  ...{ mongolian: 'mn', bosnian: 'bs', kazakh: 'kk', albanian: 'sq', swahili: 'sw', galician: 'gl', marathi: 'mr' },
  ...{ punjabi: 'pa', sinhala: 'si', khmer: 'km', shona: 'sn', yoruba: 'yo', somali: 'so', afrikaans: 'af' },
  ...{ occitan: 'oc', georgian: 'ka', belarusian: 'be', tajik: 'tg', sindhi: 'sd', gujarati: 'gu', amharic: 'am' },
  ...{ yiddish: 'yi', lao: 'lo', uzbek: 'uz', faroese: 'fo', 'haitian creole': 'ht', pashto: 'ps', turkmen: 'tk' },
  ...{ nynorsk: 'nn', maltese: 'mt', sanskrit: 'sa', luxembourgish: 'lb', myanmar: 'my', tibetan: 'bo' },
  ...{ tagalog: 'tl', malagasy: 'mg', assamese: 'as', tatar: 'tt', hawaiian: null, lingala: 'ln', hausa: 'ha' },
  ...{ bashkir: 'ba', javanese: 'jv', sundanese: 'su', cantonese: null },
};

/** ISO 639-1 codes of Whisper's languages. */
export const whisperLanguages: readonly string[] = Object.values(whisperNames).filter((code) => code !== null);

/** ISO 639-3 codes of the two nulls above, by name: requests may use these too. */
const otherCodes: Readonly<Record<string, string>> = { hawaiian: 'haw', cantonese: 'yue' };

/** Codes of Whisper's languages that have no ISO 639-1 code. */
export const languagesWithoutIso: readonly string[] = Object.values(otherCodes);

/** Whisper's aliases, and some names that other models use. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ burmese: 'my', valencian: 'ca', flemish: 'nl', haitian: 'ht', letzeburgesch: 'lb', pushto: 'ps' },
  ...{ panjabi: 'pa', moldavian: 'ro', moldovan: 'ro', sinhalese: 'si', castilian: 'es', mandarin: 'zh' },
  ...{ farsi: 'fa', irish: 'ga', filipino: 'tl', fil: 'tl', esperanto: 'eo', kurdish: 'ku', zulu: 'zu', xhosa: 'xh' },
};

const names = new Map(Object.entries({ ...whisperNames, ...otherNames }));

const iso6391 = new Set(
  (
    'aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en ' +
    'eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja ' +
    'jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb ' +
    'nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq ' +
    'sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'
  ).split(' '),
);

const nameOf = new Map(
  Object.entries(whisperNames).flatMap(([name, code]) => (code === null ? [] : [[code, name] as const])),
);
let displayNames: Intl.DisplayNames | undefined;
/** Created on first use, because creation takes 9 ms. */
const unicodeNames = () => (displayNames ??= new Intl.DisplayNames('en', { type: 'language' }));

/** Lower-case English name of a code, as Whisper names it, else as Unicode does: `german`, `irish`. */
export function languageName(code: string): string {
  return nameOf.get(code) ?? (unicodeNames().of(code) ?? code).toLowerCase();
}

/** ISO 639-1 code, or null for a language without one and for anything that is not a language. */
export function toIsoLanguage(name: unknown): string | null {
  if (typeof name !== 'string') return null;
  const plain = name.trim().toLowerCase();
  const named = names.get(plain);
  return named === undefined ? fromTag(plain) : named;
}

/** The code by which a request names a language: ISO 639-1, `haw` or `yue`; null for anything else. */
export function toLanguage(name: unknown): string | null {
  const iso = toIsoLanguage(name);
  if (iso !== null || typeof name !== 'string') return iso;
  const plain = name.trim().toLowerCase();
  const code = otherCodes[plain] ?? plain.split(/[-_]/)[0] ?? '';
  return languagesWithoutIso.includes(code) ? code : null;
}

/** Uses the first subtag, an ISO 639 code of two or three letters; withdrawn codes (jw, iw) are replaced by current ones. */
function fromTag(tag: string): string | null {
  const [first = ''] = tag.split(/[-_]/);
  if (iso6391.has(first)) return first;
  if (!/^[a-z]{2,3}$/.test(first)) return null;
  const language = Intl.getCanonicalLocales(first)[0]?.split('-')[0] ?? '';
  return iso6391.has(language) ? language : null;
}

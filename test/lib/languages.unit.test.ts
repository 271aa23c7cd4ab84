import { expect, test } from 'vitest';
import { languageName, toIsoLanguage, toLanguage } from '../../lib/languages.ts';

/** All of openai/whisper, tokenizer.py, LANGUAGES. */
const whisper =
  'en english, zh chinese, de german, es spanish, ru russian, ko korean, fr french, ja japanese, pt portuguese, ' +
  'tr turkish, pl polish, ca catalan, nl dutch, ar arabic, sv swedish, it italian, id indonesian, hi hindi, ' +
  'fi finnish, vi vietnamese, he hebrew, uk ukrainian, el greek, ms malay, cs czech, ro romanian, da danish, ' +
  'hu hungarian, ta tamil, no norwegian, th thai, ur urdu, hr croatian, bg bulgarian, lt lithuanian, la latin, ' +
  'mi maori, ml malayalam, cy welsh, sk slovak, te telugu, fa persian, lv latvian, bn bengali, sr serbian, ' +
  'az azerbaijani, sl slovenian, kn kannada, et estonian, mk macedonian, br breton, eu basque, is icelandic, ' +
  'hy armenian, ne nepali, mn mongolian, bs bosnian, kk kazakh, sq albanian, sw swahili, gl galician, mr marathi, ' +
  'pa punjabi, si sinhala, km khmer, sn shona, yo yoruba, so somali, af afrikaans, oc occitan, ka georgian, ' +
  'be belarusian, tg tajik, sd sindhi, gu gujarati, am amharic, yi yiddish, lo lao, uz uzbek, fo faroese, ' +
  'ht haitian creole, ps pashto, tk turkmen, nn nynorsk, mt maltese, sa sanskrit, lb luxembourgish, my myanmar, ' +
  'bo tibetan, tl tagalog, mg malagasy, as assamese, tt tatar, haw hawaiian, ln lingala, ha hausa, ba bashkir, ' +
  'jw javanese, su sundanese, yue cantonese';
const rows = whisper.split(', ').map((row) => {
  const space = row.indexOf(' ');
  const [code, name] = [row.slice(0, space), row.slice(space + 1)];
  const iso = code === 'jw' ? 'jv' : code.length === 2 ? code : null;
  return { code, name, iso };
});

test('all Whisper languages are covered', () => {
  expect(rows).toHaveLength(100);
});

test.each(rows)('$name and $code are $iso', ({ code, name, iso }) => {
  const forms = [name, name.toUpperCase(), ` ${name} `, code, `${code}-XX`, `${code}_xx`];
  expect(forms.map(toIsoLanguage)).toEqual(forms.map(() => iso));
});

test.each([
  ['deu', 'de'],
  ['ger', 'de'],
  ['eng', 'en'],
  ['iw', 'he'],
  ['pt-BR', 'pt'],
  ['zh-Hans-CN', 'zh'],
  ['Castilian', 'es'],
  ['fil', 'tl'],
])('%s is %s', (name, iso) => {
  expect(toIsoLanguage(name)).toBe(iso);
});

test.each([
  '',
  'auto',
  'unknown',
  'multilingual',
  'xx',
  'und',
  'mul',
  '../..',
  'constructor',
  '__proto__',
  null,
  undefined,
  7,
  {},
])('%s maps to null', (name) => {
  expect(toIsoLanguage(name)).toBe(null);
});

test.each(rows.filter(({ iso }) => iso !== null))('the name of $iso is $name', ({ name, iso }) => {
  expect(languageName(iso!)).toBe(name);
});

test('languages that Whisper does not know have their usual names', () => {
  expect(languageName('ga')).toBe('irish');
  expect(languageName('xx')).toBe('xx');
});

test.each([
  ['yue', 'yue'],
  ['yue-HK', 'yue'],
  ['Cantonese', 'yue'],
  ['haw', 'haw'],
  [' hawaiian', 'haw'],
  ['de-DE', 'de'],
  ['german', 'de'],
  ['xxx', null],
  ['constructor', null],
  [undefined, null],
])('a request may name %s: %s', (name, code) => {
  expect(toLanguage(name)).toBe(code);
});

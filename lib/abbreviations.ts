/**
 * Abbreviations whose full stop does not end a sentence, by language. Abbreviations that are followed only by
 * lower-case letters need no entry, nor do those that begin with a letter and a full stop (`z. B.`, `p. ex.`). Those
 * that are also words have no entry (`on.`, `me.`). Capital letters matter only where an entry has some. All languages
 * are searched: two sentences in one piece do less harm than a pause after `Dr.`.
 */
const byLanguage = {
  several: 'dr prof ing st vs ca max min mr mag univ dipl akad doc acad gen col lt cpt mgr rer resp sr sra dir',
  en: 'mrs ms messrs rev hon mt ft capt sgt cpl maj adm cmdr gov sen rep pres supt approx dept pvt brig insp det atty amb mx viz esp',
  de:
    'hr hrn fr frl bzw evtl ggf inkl exkl zzgl vgl sog geb gest bzgl betr stellv lfd dt hl engl frz präs mio mrd tsd dres pfr allg bes bspw ehem einschl entspr ' +
    'gegr ggü insb jh jhdt kath lat mind österr jun urspr verh vorm zus abt anm aufl ausg bsp kfm wwe',
  fr: 'M mme mmes mlle mlles mm mgr dre pr sts ste stes av env cf bd boul cie vve éd',
  es:
    'sres sras srta dra dres profa ud uds vd vds gral lic avda ej aprox dña excmo excma ilmo ilma mons hno hna sto sta ' +
    'ee ff cía pza ctra dpto depto cnel tte sgto arq',
  ca: 'pça srs',
  it: 'sig sigg dott avv arch geom rag egr gent spett mons cav comm Ten',
  pt: 'drs eng exmo exma Cel trav rod cia dep edif exa Pe',
  nl: 'dhr mevr mw ir ds jhr bijv bv evt incl mej fam gebr zgn jl',
  af: 'mnr mev',
  sv: 'jfr exkl fil avd obs dvs',
  da: 'jf ekskl frk skt sct adv cand mia vedr maks',
  no: 'siv',
  is: 'próf sbr skv',
  fi: 'esim ts ks vrt toht maist rva hra nti ltn kapt kenr huom ns yht',
  et: 'nt vt nn mnt pst prl vrd krt',
  lv: 'piem sv bulv',
  lt: 'pvz kun šv plk kpt žr plg inž',
  pl:
    'ul al pl os św ks bp abp kard płk ppłk mjr kpt por ppor sierż inż hab np tzw tzn tj im wg woj pow gm zob pt pn śp ' +
    'sp tłum oprac dyr bryg',
  cs: 'např tzv př nám tř sv bc mudr judr phdr rndr paeddr thdr mvdr pplk npor čet mj příp cca vč zejm srov pozn',
  sk: 'napr okr vrát najm porov',
  sl: 'npr oz ga gdč prim izr',
  hr: 'odn gosp usp',
  ro: 'sf bld bul șos jud mun sc dl Dna arh conf lect asist plt',
  hu: 'gr br ún kb vö id ifj özv szt krt ker ld köv szerk',
  tr: 'bk bkz krş örn doç yrd öğr gör müh mim ecz alb yzb bşk sn hz cad Sok sk mah blv apt şti tic çev ans fak üniv',
  vi: 'tp ths pgs gs bs',
  id: 'jl jln gg kg kec kab kel hj tn Ny bpk sdr sdri yth',
  sw: 'bw dkt',
  tl: 'gng bb',
  ru:
    'г д п с проф акад доц инж канд корр им ул пр просп пер пл наб бул бульв обл респ пос дер св преп митр архиеп еп ген полк ' +
    'подп лейт серж адм гр тов оз зам нач рук см ср напр изд сост англ фр лат греч',
  uk: 'інж ім вул пров смт див тзв упоряд',
  be: 'праф',
  bg: 'кв общ вж арх',
  sr: 'нпр тј др мр дипл одн',
  el: 'κ δρ κκ δίδα δηλ βλ πρβλ λεωφ οδ αγ καθ στρ χλμ',
  ka: 'მაგ პროფ აკად დოც დრ',
  hy: 'պրոֆ դոց ակադ',
  hi: 'डॉ प्रो श्री पं कु स्व मि',
  ne: 'डा प्रा',
  bn: 'ডঃ ডা মো',
  gu: 'ડૉ',
  ta: 'திரு',
  te: 'డా',
  ml: 'ഡോ',
};

/** Abbreviations that can also end a sentence. */
const atEnds = 'inc ltd corp co bros jr usw ecc enz stb';

/** Words that are abbreviations only before a number, such as "No." */
const beforeNumbers = {
  several: 'no nos nr nro fig art vol cap tab tel kap',
  en: 'figs ch sec pp eq eqs est jan feb mar apr jun jul aug sep sept oct nov dec',
  de: 'abb abs bd okt dez',
  fr: 'chap tél janv févr avr juil déc',
  es: 'núm pág pàg págs ene abr ago dic',
  it: 'pag pagg giu lug ott',
  pt: 'séc fev mai set out dez',
  nl: 'blz afb hfst mrt mei',
  nordic: 'kl sid stk afsn tlf puh bls gr des',
  baltic: 'lk plkst lpp tālr psl pav vyr str',
  pl: 'rys poz ust godz ok',
  cs: 'čl odst obr roč hod ods',
  sl: 'br št pogl sl op',
  ro: 'alin lit et ap bl ian iun iul noi',
  hu: 'old sz de du febr márc ápr máj',
  tr: 'sf md',
  vi: 'tr',
  id: 'hlm tgl',
  ru: 'стр рис табл ст пп корп оф гл фиг бл вх ет ап чл тел янв февр мар апр июн июл авг сент окт нояб дек',
  uk: 'стор буд розд бр',
  el: 'αρ σελ κεφ εικ τηλ',
  ka: 'გვ',
  hi: 'रु सं क्र पृ',
};

const wordsOf = (lists: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(Object.values(lists).flatMap((words) => words.split(' ')));
const known = wordsOf(byLanguage);
const knownAtEnds = wordsOf({ atEnds });
const knownBeforeNumbers = wordsOf(beforeNumbers);

/** In these scripts, a single letter can be a word: "네. 그래요." */
const syllables = String.raw`[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;

/** A letter, a doubled capital letter ("EE. UU."), or an ordinal number: "am 3. Oktober", "IV. Béla". */
const short = new RegExp(
  String.raw`^(?:(?!${syllables})(?:\p{L}|(\p{Lu})\1)|\p{Nd}{1,2}|(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3}))$`,
  'u',
);

/**
 * Thai and Lao use full stops only in abbreviations. German words end with `str` only in street names: "Hauptstr. 5".
 */
const always = /[\p{Script=Thai}\p{Script=Lao}]|str$/iu;

/** Words that are abbreviations only together with what precedes them. */
const pairs: readonly RegExp[] = [
  /(?<![\p{L}\p{N}])\p{L}\.\s?(?:\p{L}{1,2}\.\s?)*\p{Ll}{2,4}$/u, // m.in., t. zn., p. ej.
  /(?<![\p{L}\p{M}\p{N}])\p{L}\p{M}*\.(?:[\p{Lo}\p{M}]{1,4}\.)*[\p{Lo}\p{M}]{2,4}$/u, // उ.प्र.
  /(?<!\p{L})\p{Lu}\. \p{Lu}$/u, // J. R. R.
  /(?<!\p{L})(?:z\. ?b|d\. ?h|e\. ?g|i\. ?e|т\. ?[екн]|π\. ?χ|(?:ad|per) es|(?:par|por|de) ex)$/iu,
  /(?<!\p{L})(?:dr|mr|rer)\. ?(?:med|phil|jur|nat|sc|oec|vet)$/iu,
];

const lastWord = /(?<![\p{L}\p{M}\p{N}])(?:[\p{L}\p{M}]+|\p{N}+)$/u;

/** A number in digits or Roman numerals: "vol. II". */
const number = /^(?:\p{Nd}|(?:[IVXLC]{2,5}|[VX])(?![\p{L}\p{N}])|[IVXLC]$)/u;

/** Units follow a number, and may end the sentence: "5 mm." */
const afterNumber = /\p{N}\s?\p{L}+$/u;

/** Number of UTF-16 units examined at the end of a text. Longer words are not abbreviations. */
const examined = 16;

/**
 * Whether the text before a full stop ends with an abbreviation: `never` if the full stop does not end the sentence,
 * `perhaps` if it may; undefined if there is no abbreviation. `next` is the text after the white space that follows, or
 * its first characters.
 */
export function abbreviationAt(text: string, next: string): 'never' | 'perhaps' | undefined {
  const end = text.slice(-examined);
  const [word] = lastWord.exec(end) ?? [];
  if (word === undefined) return undefined;
  const plain = word.toLowerCase();
  if (known.has(word) || known.has(plain)) return afterNumber.test(end) ? 'perhaps' : 'never';
  if (number.test(next) && knownBeforeNumbers.has(plain)) return 'never';
  if (always.test(word) || pairs.some((pair) => pair.test(end))) return 'never';
  if (short.test(word)) return /^\p{L}$/u.test(word) && /^\p{L}\./u.test(next) ? 'never' : 'perhaps';
  return knownAtEnds.has(plain) ? 'perhaps' : undefined;
}

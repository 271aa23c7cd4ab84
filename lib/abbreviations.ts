/**
 * Abbreviations whose full stop does not end a sentence, by language. Those of one letter (`z. B.`, `J. Smith`) need no
 * entry, and those that are also words have none (`on.`, `me.`). All languages are searched: two sentences in one piece do
 * less harm than a pause after `Dr.`.
 */
const byLanguage = {
  en: 'Mr Mrs Ms Messrs Dr Prof Rev Hon St Mt Ft Sr Jr Gen Col Capt Cpt Lt Sgt Cpl Maj Adm Cmdr Gov Sen Rep Pres Supt Inc Ltd Corp vs approx',
  de: 'Hr Hrn Fr Frl Dr Prof Dipl Ing Mag St bzw ca evtl ggf inkl exkl zzgl vgl sog geb gest Mio Mrd Tsd max min',
  fr: 'Mme Mmes Mlle Mlles MM Mgr Dr Pr St Ste av env cf',
  es: 'Sr Sra Sres Sras Srta Dr Dra Dres Prof Profa Ud Uds Vd Vds Gral Lic Ing Av Avda ej aprox',
  it: 'Sig Sigg Dott Prof Ing Avv Arch Geom Rag Egr Gent Spett ecc ca',
  pt: 'Sr Sra Srs Sras Dr Dra Drs Prof Profa Eng Exmo Exma Av Ltda',
  nl: 'dhr mevr mw dr drs prof ir ing mr ds jhr bijv evt incl ca',
};

/** Abbreviations only before a number: elsewhere they may be words, as "No." is. */
const beforeNumbers = {
  en: 'No Nos Fig Figs Vol Ch Sec Art pp Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec',
  de: 'Nr Abb Abs Art Kap Bd Tel Okt Dez',
  fr: 'chap fig vol art tél',
  es: 'núm pág págs art cap fig tel',
  it: 'pag pagg art cap fig tel',
  pt: 'núm pág págs art cap fig tel',
  nl: 'nr blz art afb tel',
};

const wordsOf = (lists: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(Object.values(lists).flatMap((words) => words.toLowerCase().split(' ')));
const abbreviations = wordsOf(byLanguage);
const abbreviationsBeforeNumbers = wordsOf(beforeNumbers);

/** A letter, or an ordinal number: "am 3. Oktober". */
const short = /^(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]|\d{1,2})$/u;

/** Whether the full stop after the word does not end the sentence. `next` is the character after the white space. */
export function isAbbreviation(word: string, next: string): boolean {
  const plain = word.toLowerCase();
  return short.test(word) || abbreviations.has(plain) || (/\d/.test(next) && abbreviationsBeforeNumbers.has(plain));
}

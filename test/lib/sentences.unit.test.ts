/** Where sentences end, in the languages that voices speak. */
import { describe, expect, test } from 'vitest';
import { isSentenceEnd, sentenceEnds } from '../../lib/sentences.ts';

function sentencesOf(text: string): string[] {
  const ends = [0, ...sentenceEnds(text)];
  return ends.slice(1).map((end, at) => text.slice(ends[at], end).trim());
}

describe('a sentence does not end', () => {
  test.each([
    ['en', 'Gen. Lee met Capt. Hill of the U.S. Navy at St. Paul, e.g. Bob.'],
    ['de', 'Die Hauptstr. 5 in München, d. h. Bayern, vgl. Abb. 3 und bspw. Ulm.'],
    ['de, an ordinal', 'Ludwig XIV. Herrscher war er lange, im 19. Jahrhundert.'],
    ['fr', 'M. Hugo et Mme. Sand, bd. Voltaire, le 3 févr. 1850.'],
    ['es', 'La Excma. Sra. Ruiz vive en la Avda. América, p. ej. Ana.'],
    ['it', 'Il dott. Rossi e il cav. Verdi, ad es. Bianchi.'],
    ['pt', 'O Sr. Silva e a Dra. Lima, av. Brasil, p. ex. Ana, por ex. Rio.'],
    ['nl', 'Dhr. Bos en fam. Vos, bijv. Jansen, art. 5.'],
    ['af', 'Mnr. Botha en mev. Smit.'],
    ['sv', 'Bl.a. Malmö, t.ex. Lund, kl. 10, jfr. Uppsala.'],
    ['da', 'F.eks. Odense, hr. Hansen og frk. Jensen, tlf. 12.'],
    ['no', 'Bl.a. Bergen, ca. Ti, kl. 8.'],
    ['is', 'T.d. Akureyri, sbr. Reykjavík, bls. 5.'],
    ['fi', 'Esim. Turku, ks. Helsinki, prof. Virtanen, nro 5, puh. 12.'],
    ['et', 'Nt. Tartu, vt. Tallinn, lk. 5, Narva mnt. Kaks.'],
    ['lv', 'Piem. Rīga, prof. Bērziņš, plkst. 10.'],
    ['lt', 'Pvz. Vilnius, žr. Kaunas, kun. Jonas, str. 5.'],
    ['pl', 'Mieszkam przy ul. Długiej, m.in. Adam, ks. Jan i św. Anna, tzw. Wawel, t. zn. Kraków.'],
    ['cs', 'Např. Praha a tzv. Malá Strana, nám. Míru, MUDr. Nová, čl. 5.'],
    ['sk', 'Napr. Bratislava, ul. Dlhá, sv. Martin.'],
    ['sl', 'Npr. Ljubljana, oz. Maribor, ga. Novak, št. 5.'],
    ['hr', 'Npr. Zagreb, tzv. Gornji grad, dr. sc. Horvat, br. 5.'],
    ['sr', 'Нпр. Београд, тј. Нови Сад, др. Петровић.'],
    ['ro', 'Str. Mihai Viteazu nr. 5, jud. Cluj, d.p.d.v. Ana.'],
    ['hu', 'IV. Béla király volt, pl. Budán, özv. Nagy Péterné, Szt. István krt. Öt.'],
    ['tr', 'Bkz. Ek 3 ve krş. Bölüm 2, Doç. Kaya, Atatürk Cad. No. 5, Lale Sok. Ankara.'],
    ['ru', 'проф. Иванов и акад. Петров, ул. Мира, д. 5, г. Москва, т. е. Россия, см. рис. 3.'],
    ['uk', 'Проф. Шевченко, вул. Січова, ім. Франка, т.зв. Галичина, див. Київ, стор. 5.'],
    ['bg', 'Напр. София, бул. Витоша, гр. Варна, т.нар. Шопи, проф. Петров.'],
    ['el', 'Ο κ. Παππάς και ο δρ. Νίκου, π.χ. Αθήνα, βλ. Πάτρα, σελ. 5.'],
    ['hi', 'डॉ. शर्मा और प्रो. वर्मा उ.प्र. में हैं।'],
    ['th', 'ปี พ.ศ. 2560 ดร. สมชาย ต.ค. นี้'],
    ['ar', 'وصل د. محمد و أ. علي.'],
    ['ka', 'პროფ. ბერიძე და აკად. ჯავახიშვილი.'],
    ['vi', 'Tp. Hồ Chí Minh, TS. Nguyễn và PGS. Trần.'],
    ['id', 'Jl. Sudirman No. 5, Ny. Sari dan Kab. Bogor.'],
    ['sw', 'Bw. Juma na Dkt. Asha.'],
  ])('within it (%s): %s', (_language, sentence) => {
    expect(sentencesOf(sentence)).toEqual([sentence]);
  });
});

describe('sentences end', () => {
  test.each([
    [
      'en',
      ['Vitamins help.', 'He is ill.', 'It was red.', 'I said no.', 'Visit example.com.', 'So "go!"', 'Then…', 'End.'],
    ],
    ['de', ['Es ist so.', 'Ich mag das.', 'Er kam mit.', 'Gut!']],
    ['ru', ['Он им помогал.', 'Где?', 'Вот там.']],
    ['el, whose question mark is a semicolon', ['Τι κάνεις;', 'Είμαι καλά.']],
    ['zh', ['他来了。', '真的吗？', '是！', '好。']],
    ['ja', ['はい。', 'そうですか？', 'ええ｡', 'では。']],
    ['ko, whose words may have one letter', ['네.', '그래요.', '아.', '네.']],
    ['hi', ['यह है।', 'वह कौन है?', 'वह है।']],
    ['hi, with full stops', ['यह है.', 'वह है.']],
    ['ar', ['كيف حالك؟', 'أنا بخير.', 'شكرا!']],
    ['ur', ['یہ ہے۔', 'وہ ہے۔']],
    ['hy', ['Բարև։', 'Լավ եմ։']],
    ['am', ['ሰላም።', 'እንዴት ነህ፧', 'ደህና።']],
    ['my', ['မင်္ဂလာပါ။', 'နေကောင်းလား။']],
    ['km', ['សួស្តី។', 'សុខសប្បាយទេ?']],
    ['he', ['שלום.', 'מה שלומך?', 'טוב.']],
  ])('%s', (_language, sentences) => {
    expect(sentencesOf(sentences.join(' '))).toEqual(sentences);
  });

  test('before brackets, but after citations', () => {
    expect(sentencesOf('He went.(Then so.) 本当？「ええ。」そう。')).toEqual([
      'He went.',
      '(Then so.)',
      '本当？',
      '「ええ。」',
      'そう。',
    ]);
    expect(sentencesOf('It is.[1][2] Then so.[3]')).toEqual(['It is.[1][2]', 'Then so.[3]']);
  });

  test('without spaces in Chinese and Japanese', () => {
    expect(sentencesOf('他来了。真的吗？')).toEqual(['他来了。', '真的吗？']);
  });
});

test.each([
  ['It ended.', 'then', true],
  ['It ended', 'Then', false],
  ['He met Dr.', 'Hill', false],
  ['See No.', '5', false],
  ['I said no.', 'Then', true],
  ['東京。', '是', true],
  ['यह है।', 'वह', true],
  ['كيف؟', 'أنا', true],
  ['Well,', 'then', false],
  ['So…', 'then', true],
])('between the words of a recognizer: %s | %s', (before, next, isEnd) => {
  expect(isSentenceEnd(before, next)).toBe(isEnd);
});

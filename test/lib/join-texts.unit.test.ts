/** What stands between two texts that were spoken one after the other. */
import { expect, test } from 'vitest';
import { joinTexts } from '../../lib/join-texts.ts';

test.each([
  ['Chinese', ['请坐。', '明天见。'], '请坐。明天见。'],
  ['Chinese without punctuation', ['请坐', '明天见'], '请坐明天见'],
  ['Chinese with narrow punctuation', ['他说"请坐".', '"明天见"'], '他说"请坐"."明天见"'],
  ['Chinese with Latin words', ['我有 iPhone。', 'iPad 也有', '明天见'], '我有 iPhone。iPad 也有明天见'],
  ['Chinese after a Latin word', ['我有 iPhone', '明天见'], '我有 iPhone 明天见'],
  ['Japanese', ['東京はサーバー', 'です。', '「はい」', 'ﾃｽﾄ'], '東京はサーバーです。「はい」ﾃｽﾄ'],
  ['rare Han characters', ['𠮷', '𠮷'], '𠮷𠮷'],
  ['Cantonese', ['你好', '嘅'], '你好嘅'],
  ['Thai', ['สวัสดีครับ', 'วันนี้'], 'สวัสดีครับวันนี้'],
  ['Lao, Khmer and Burmese', ['ສະບາຍດີ', 'ຂອບໃຈ', 'សួស្តី', 'မင်္ဂလာပါ', 'ကျေးဇူး'], 'ສະບາຍດີຂອບໃຈសួស្តីမင်္ဂလာပါကျေးဇူး'],
  ['Korean', ['안녕하세요.', '반갑습니다.'], '안녕하세요. 반갑습니다.'],
  ['English', ['Good morning.', ' It is late. ', '', '"Yes."'], 'Good morning. It is late. "Yes."'],
  ['Russian and numbers', ['Да', '5', '...'], 'Да 5 ...'],
  ['nothing', ['', ' '], ''],
])('%s', (_language, texts, expected) => expect(joinTexts(texts)).toBe(expected));

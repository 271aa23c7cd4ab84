/** Tokens become words, words become segments. */
import { describe, expect, it } from 'vitest';
import { segmentsOf, textOf, wordsOf } from '../../../engines/sherpa-stt/words.ts';

/** A piece of 10 to 20 s; a token is written as `text@ms`. */
function recognized(line: string) {
  const tokens = line.split('|').map((part) => part.split('@'));
  return { endMs: 20_000, tokens: tokens.map(([text = '']) => text), starts: tokens.map(([, ms]) => Number(ms)) }; // prettier-ignore
}

const spoken = (line: string, marksWords = true) =>
  wordsOf(recognized(line), marksWords).map(({ text, startMs, endMs }) => `${text} ${startMs}-${endMs}`);

const segments = (line: string, marksWords = true) =>
  segmentsOf(wordsOf(recognized(line), marksWords)).map(({ text, startMs, endMs }) => `${text} ${startMs}-${endMs}`);

describe('words', () => {
  it('begin with a mark or a space, and end where the next one begins, the last one with the piece', () => {
    const expected = ['hello 10100-10500', 'world 10500-20000'];
    expect(spoken('▁hel@10100|lo@10300|▁wor@10500|ld@10700')).toEqual(expected);
    expect(spoken(' hel@10100|lo@10300| wor@10500|ld@10700')).toEqual(expected);
  });

  it('end where a space that is a token of its own begins', () => {
    expect(spoken('n@10100|o@10200| @10300|y@10400|e@10500|s@10600')).toEqual(['no 10100-10300', 'yes 10400-20000']);
    expect(spoken('▁@10000|n@10100|o@10200|▁@10300')).toEqual(['no 10100-10300']);
  });

  it('are the tokens where these mark no words', () => {
    expect(spoken('東@10100|京@10200', false)).toEqual(['東 10100-10200', '京 10200-20000']);
  });

  it('are characters where a model of several languages writes Chinese, and words elsewhere', () => {
    const line = '▁我@10100|用@10200|▁i@10300|pad@10400|吗@10500|？@10600';
    expect(spoken(line)).toEqual(['我 10100-10200', '用 10200-10300', 'ipad 10300-10500', '吗？ 10500-20000']);
    expect(textOf(wordsOf(recognized(line), true))).toBe('我用 ipad吗？');
  });

  it('are joined without spaces across pieces, in languages without them', () => {
    const joined = (...texts: readonly string[]) => textOf(texts.map((text) => ({ text, isSpaced: true })));
    expect(joined('请坐。', '明天见。')).toBe('请坐。明天见。');
    expect(joined('Sit down.', 'See you.')).toBe('Sit down. See you.');
  });

  it('do not end after the piece', () => {
    expect(spoken('▁late@20040')).toEqual(['late 20000-20000']);
  });

  it('do not exist in silence', () => {
    expect(wordsOf({ endMs: 1_000, tokens: [], starts: [] }, true)).toEqual([]);
    expect(segmentsOf([])).toEqual([]);
  });
});

describe('segments', () => {
  it('end with a sentence', () => {
    expect(segments('▁yes@10100|.@10300|▁no@10500|?@10600|▁well@10800')).toEqual([
      'yes. 10100-10500',
      'no? 10500-10800',
      'well 10800-20000',
    ]);
    expect(segments('▁3.@10100|14@10300|▁is@10500')).toEqual(['3.14 is 10100-20000']);
  });

  it('do not end with an abbreviation', () => {
    expect(segments('▁Dr.@10100|▁Hill@10300|▁met@10400|▁проф.@10500|▁Иванов.@10600|▁Then@10800')).toEqual([
      'Dr. Hill met проф. Иванов. 10100-10800',
      'Then 10800-20000',
    ]);
  });

  it('end with a sentence in every script', () => {
    expect(segments('▁यह@10100|▁है।@10300|▁क्या?@10500|▁نعم؟@10700|▁ok@10900')).toEqual([
      'यह है। 10100-10500',
      'क्या? 10500-10700',
      'نعم؟ 10700-10900',
      'ok 10900-20000',
    ]);
  });

  it('end before a second without a token', () => {
    expect(segments('▁one@10100|▁two@11000|▁three@12000')).toEqual(['one two 10100-12000', 'three 12000-20000']);
  });

  it('have no spaces where the language has none', () => {
    expect(segments('東@10100|京@10200|。@10300|是@10400', false)).toEqual(['東京。 10100-10400', '是 10400-20000']);
  });
});

/** Reasoning that a model writes into its answer, split over deltas in any way. */
import { describe, expect, test } from 'vitest';
import { closingMarks, openingMarks } from '../../../../lib/thought-marks.ts';
import { withoutThoughts } from '../../../../lib/thoughts.ts';
import type { Delta, TextEvent } from '../../../../engines/lib/agent/delta.ts';
import { RoundText } from '../../../../engines/lib/agent/round-text.ts';

const says = (delta: string): Delta => ({ type: 'content-delta', delta });
const thinks = (delta: string): Delta => ({ type: 'reasoning-delta', delta });

/** Takes the deltas one by one; returns what is shown of them, and the texts of the round. */
function read(deltas: readonly Delta[]) {
  const text = new RoundText();
  const shown = [...deltas.flatMap((delta) => text.take([delta])), ...text.end()];
  const joined = (type: Delta['type'], events: readonly TextEvent[]) =>
    events.flatMap((one) => (one.type === type ? [one.delta] : [])).join('');
  const kept = shown.slice(shown.findLastIndex(({ type }) => type === 'content-retracted') + 1);
  const { content, reasoning } = text;
  expect({ content, reasoning }).toEqual({
    content: joined('content-delta', kept),
    reasoning: joined('reasoning-delta', shown),
  });
  return { content, reasoning, shown: joined('content-delta', shown) };
}

/** The text in two pieces, in three, and in its characters. */
function splitsOf(text: string): string[][] {
  const cuts = Array.from({ length: text.length + 1 }, (_, at) => at);
  const threes = cuts.flatMap((a) => cuts.slice(a).map((b) => [text.slice(0, a), text.slice(a, b), text.slice(b)]));
  return [text.split(''), ...threes];
}

describe('an answer, split at every position', () => {
  test.each([
    ['with a thought', '<think>\nHm. So.\n</think>\n\nHi.\n', 'Hm. So.', 'Hi.\n'],
    ['with white space before the thought', ' \n<think>Hm.</think>Hi.', 'Hm.', 'Hi.'],
    ['with an empty thought', '<think>\n\n</think>\n\nHi.', '', 'Hi.'],
    ['with two thoughts', '<think>Hm.</think>\n<think> So.</think>Hi.', 'Hm.\n\nSo.', 'Hi.'],
    ['with a thought without an end', '<think>Hm. </thin So. ', 'Hm. </thin So.', ''],
    ['with an end that is cut off', '<think>Hm.</thi', 'Hm.</thi', ''],
    ['with nothing after the thought', '<think>Hm.</think>\n', 'Hm.', ''],
    ['with an opening tag in a thought', '<think>a<think>b<</</think>c', 'ab<</', 'c'],
    ['with an opening tag in a thought and in the answer', '<think>a <think> b</think>c<think>d', 'a  b', 'c<think>d'],
    ['with a thought in a thought', '<think>a<think> b</think> c</think>\nHi.', 'a b c', 'Hi.'],
    ['with a thought of another kind in a thought', '<thinking>\n<think>a</think>b\n</thinking>Hi.', 'ab', 'Hi.'],
    ['with an opening tag that is repeated', '<think>\n<think>\na</think>Hi.', 'a', 'Hi.'],
    ['with a closing tag that is repeated', '<think>a</think>\n</think>\nHi.', 'a', 'Hi.'],
    ['with the closing tag of another kind', '<thinking>a</think>Hi.', 'a', 'Hi.'],
    ['with the closing tag alone', 'a. b.\n</think>\n\nHi.', 'a. b.', 'Hi.'],
    ['with the closing tag alone, on one line', 'a. b.</think>Hi.', 'a. b.', 'Hi.'],
    ['with the closing tag alone, before all', '\n</think>\n\nHi.', '', 'Hi.'],
    ['with the closing tag alone, behind all', 'a.\n</THINK>\n', 'a.', ''],
    ['with the closing tag alone after a thought', '<think>a</think>b\n</think>\nHi.', 'a\n\nb', 'Hi.'],
    ['with the closing tag alone twice', 'a\n</think>\nb\n</think>\nHi.', 'a\n\nb', 'Hi.'],
    ['with a closing tag in quotes', 'End it with `</think>`.\nHi.', '', 'End it with `</think>`.\nHi.'],
    ['with a closing tag in a sentence', 'The </think> tag ends it.', '', 'The </think> tag ends it.'],
    ['with a closing tag at the end of a sentence', 'It ends with </think>.', '', 'It ends with </think>.'],
    ['with a closing tag in JSON', '{"a":"b\\n</think>\\nc"}', '', '{"a":"b\\n</think>\\nc"}'],
    [
      'in harmony',
      '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Hi.',
      'a',
      'Hi.',
    ],
    [
      'in harmony, with the head of the first message in the prompt',
      '<|channel|>analysis<|message|>a<|end|>\n<|start|>assistant<|channel|>commentary<|message|>b<|start|>assistant<|channel|>final<|message|>Hi.<|return|>',
      'a\n\nb',
      'Hi.',
    ],
    ['in harmony, without thoughts', '<|channel|>final<|message|>Hi.<|end|>\n', '', 'Hi.'],
    ['in harmony, thoughts begun in the prompt', 'a.<|end|><|channel|>final<|message|>Hi.', 'a.', 'Hi.'],
    ['of Gemma', '<|channel>thought\na\n<channel|>Hi.', 'a', 'Hi.'],
    ['of Command A', '<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Hi.<|END_RESPONSE|>', 'a', 'Hi.'],
    ['with tags in mid-text', '\nSay <think>a</think>.', '', '\nSay <think>a</think>.'],
    ['with tags in mid-text after a thought', '<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
    ['that begins as a tag does', '<thin', '', '<thin'],
    ['that begins with another tag', ' <thinker>a', '', ' <thinker>a'],
    ['of white space', ' \n', '', ' \n'],
    ['of nothing', '', '', ''],
  ])('%s', (_name, text, reasoning, content) => {
    for (const pieces of splitsOf(text)) {
      expect(read(pieces.map(says)), pieces.join('|')).toMatchObject({ content, reasoning });
    }
    expect(withoutThoughts(text)).toBe(content); // as speech reads it
  });
});

test.each(openingMarks.map((mark) => [mark]))(
  '%s begins a thought, in any case, before any closing mark',
  (opening) => {
    for (const closing of closingMarks) {
      for (const [begin, end] of [
        [opening, closing],
        [opening.toUpperCase(), closing.toUpperCase()],
      ] as const) {
        const text = `${begin}\nThe user says hi.${end}\n\nHello there.`;
        for (const pieces of [[text], text.split(''), text.split(/(?<=[a-z])/i)]) {
          const texts = { reasoning: 'The user says hi.', content: 'Hello there.', shown: 'Hello there.' };
          expect(read(pieces.map(says)), text).toEqual(texts);
        }
      }
    }
  },
);

test.each(closingMarks.map((mark) => [mark]))('%s alone ends a thought, and is never shown', (closing) => {
  const text = `The user says hi. I should greet.\n${closing}\n\nHello there.`;
  for (const pieces of [[text], text.split(''), text.split(/(?<=[a-z])/i)]) {
    const { shown, ...texts } = read(pieces.map(says));
    expect(texts).toEqual({ reasoning: 'The user says hi. I should greet.', content: 'Hello there.' });
    expect(shown).toMatch(
      pieces.length === 1 ? /^Hello there\.$/ : /^The user says hi\. I should greet\.\nHello there\.$/,
    );
  }
});

test('a thought is shown while it is written', () => {
  const text = new RoundText();
  const shown = ['<think>', 'Hm', '. ', 'So', '.</think>Hi', '.'].map((piece) => text.take([says(piece)]));
  expect(shown).toEqual([[], [thinks('Hm')], [thinks('.')], [thinks(' So')], [thinks('.'), says('Hi')], [says('.')]]);
});

test('reasoning that the provider also sends apart is shown once', () => {
  const once = { content: 'Hi.', reasoning: 'Hm.' };
  expect(read([thinks('Hm.'), says('<think>Hm.</think>'), says('Hi.')])).toMatchObject(once);
  expect(read([thinks('Hm.'), says('Hm.\n'), says('</think>'), says('Hi.')])).toMatchObject(once);
});

test('200,000 pieces of white space are read in linear time', () => {
  const space = Array.from({ length: 200_000 }, () => says(' '));
  const answer = [says('<think>'), ...space, says('a'), ...space, says('b</think>'), ...space, says('c')];
  expect(read([...space, ...answer])).toMatchObject({ content: 'c', reasoning: `a${' '.repeat(200_000)}b` });
});

test.each([
  ['openings', '<think>'],
  ['closings', '</think>'],
  ['thoughts', '<think></think>'],
  ['mentions', 'the </think> tag '],
  ['ends', 'a<|end|>'],
  ['beginnings of marks', '<|start|>assistant<'],
])('a hundred thousand %s are read in linear time', (_what, text) => {
  const many = text.repeat(100_000);
  read([says(many)]);
  read(many.match(/[^]{1,9}/g)!.map(says));
});

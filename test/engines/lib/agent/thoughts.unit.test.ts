/** Reasoning that a model writes into its answer, split over deltas in any way. */
import { describe, expect, test } from 'vitest';
import type { Delta } from '../../../../engines/lib/agent/delta.ts';

import { RoundText } from '../../../../engines/lib/agent/round-text.ts';

const says = (delta: string): Delta => ({ type: 'content-delta', delta });
const thinks = (delta: string): Delta => ({ type: 'reasoning-delta', delta });

/** Takes the deltas one by one; returns what is shown of them, and the texts of the round. */
function read(deltas: readonly Delta[]) {
  const text = new RoundText();
  const shown = [...deltas.flatMap((delta) => text.take([delta])), ...text.end()];
  const joined = (type: Delta['type']) => shown.flatMap((one) => (one.type === type ? [one.delta] : [])).join('');
  expect({ content: text.content, reasoning: text.reasoning }).toEqual({
    content: joined('content-delta'),
    reasoning: joined('reasoning-delta'),
  });
  return { content: text.content, reasoning: text.reasoning };
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
    ['with tags in a thought', '<think>a<think>b<</</think>c', 'a<think>b<</', 'c'],
    ['with tags in mid-text', '\nSay <think>a</think>.', '', '\nSay <think>a</think>.'],
    ['with tags in mid-text after a thought', '<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
    ['that begins as a tag does', '<thin', '', '<thin'],
    ['that begins with another tag', ' <thinker>a', '', ' <thinker>a'],
    ['of white space', ' \n', '', ' \n'],
    ['of nothing', '', '', ''],
  ])('%s', (_name, text, reasoning, content) => {
    for (const pieces of splitsOf(text))
      expect(read(pieces.map(says)), pieces.join('|')).toEqual({ content, reasoning });
  });
});

test('a thought is shown while it is written', () => {
  const text = new RoundText();
  const shown = ['<think>', 'Hm', '. ', 'So', '.</think>Hi', '.'].map((piece) => text.take([says(piece)]));
  expect(shown).toEqual([[], [thinks('Hm')], [thinks('.')], [thinks(' So')], [thinks('.'), says('Hi')], [says('.')]]);
});

test('reasoning that the provider also sends apart is shown once', () => {
  expect(read([thinks('Hm.'), says('<think>Hm.</think>'), says('Hi.')])).toEqual({ content: 'Hi.', reasoning: 'Hm.' });
});

test('a million pieces of white space are read in linear time', () => {
  const space = Array.from({ length: 1_000_000 }, () => says(' '));
  const answer = [says('<think>'), ...space, says('a'), ...space, says('b</think>'), ...space, says('c')];
  expect(read([...space, ...answer])).toEqual({ content: 'c', reasoning: `a${' '.repeat(1_000_000)}b` });
});

/** The conversation across a reload: what is kept, for whom, and how much. */
import { describe, expect, test } from 'vitest';
import { newAnswer, textOf, toMarkdown, type Answer, type Turn } from '../../page/conversation-state.ts';
import { maxStoredBytes, storedTurns, storeTurns, type ConversationStorage } from '../../page/stored-conversation.ts';

/** The storage of a tab: refuses what is beyond its quota of characters. */
function newStorage(quota = Infinity) {
  const items = new Map<string, string>();
  const storage: ConversationStorage = {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => {
      if (value.length > quota) throw new DOMException('full', 'QuotaExceededError');
      items.set(name, value);
    },
    removeItem: (name) => void items.delete(name),
  };
  return { items, open: () => storage };
}

const question = (text: string): Turn => ({ role: 'user', id: 1, text });

const answer = (text: string, facts: Partial<Answer> = {}): Answer => ({
  ...newAnswer(2),
  state: 'done',
  parts: [{ kind: 'text', step: 0, text }],
  ...facts,
});

const textsOf = (turns: readonly Turn[]) => turns.map((turn) => (turn.role === 'user' ? turn.text : textOf(turn)));

const result = { content: 'The answer.', model: 'm', finish_reason: 'stop', reasoning: null, usage: null } as const;

describe('a conversation', () => {
  test('is kept as text: without reasoning, tool calls and clips', () => {
    const { open, items } = newStorage();
    const whole = answer('The answer.', {
      result,
      parts: [
        { kind: 'reasoning', step: 0, text: 'hidden thoughts' },
        { kind: 'tool', id: 't', name: 'search', arguments: { q: 'hidden query' } },
        { kind: 'clip', id: 'hidden clip' },
        { kind: 'text', step: 1, text: 'The answer.' },
      ],
    });
    storeTurns(open, [question('Why?'), whole], undefined);
    expect([...items.values()].join()).not.toContain('hidden');
    expect(storedTurns(open, undefined)).toEqual([
      { role: 'user', id: 1, text: 'Why?' },
      { ...answer('The answer.'), model: 'm' },
    ]);
  });

  test('keeps how an answer ended; one that was running is stopped', () => {
    const { open } = newStorage();
    const failure = { text: 'Too busy.', code: 'overloaded', requestId: 'r' };
    const turns = [question('a'), answer('b', { state: 'failed', failure }), answer('c', { state: 'running' })];
    storeTurns(open, turns, undefined);
    expect(storedTurns(open, undefined)).toMatchObject([{}, { state: 'failed', failure }, { state: 'stopped' }]);
  });

  test('is for the key that it was held with, and does not contain it', () => {
    const { open, items } = newStorage();
    storeTurns(open, [question('a')], 'first-key');
    expect([...items.values()].join()).not.toContain('first-key');
    expect(storedTurns(open, 'second-key')).toEqual([]);
    expect(storedTurns(open, undefined)).toEqual([]);
    expect(storedTurns(open, 'first-key')).toHaveLength(1);
  });

  test('is gone when it is empty', () => {
    const { open, items } = newStorage();
    storeTurns(open, [question('a')], undefined);
    storeTurns(open, [], undefined);
    expect(items.size).toBe(0);
  });

  test.each([
    ['many turns', Array.from({ length: 100 }, (_, i) => question(`${i} ${'x'.repeat(32_000)}`)), 2],
    ['one turn', [answer('y'.repeat(2_000_000))], 1],
    ['characters that JSON escapes', [question('a'), answer('\u0000"\\'.repeat(400_000))], 1],
    ['long failures', Array.from({ length: 5_000 }, () => answer('', { failure: { text: '\u0000'.repeat(9_000) } })), 9], // prettier-ignore
  ])('of more than 1 MB keeps the latest that fits: %s', (_what, turns, atLeast) => {
    const { open, items } = newStorage();
    storeTurns(open, turns, 'key');
    expect([...items.values()].join().length * 2).toBeLessThanOrEqual(maxStoredBytes);
    const texts = textsOf(storedTurns(open, 'key'));
    expect(texts.length).toBeGreaterThanOrEqual(atLeast);
    const lastTexts = textsOf(turns).slice(-texts.length);
    expect(lastTexts.every((text, index) => text.startsWith(texts[index]!))).toBe(true);
  });

  test('without room is not kept, and neither is its beginning', () => {
    const { open, items } = newStorage(300);
    storeTurns(open, [question('a')], undefined);
    expect(items.size).toBe(1);
    storeTurns(open, [question('a'), answer('b'.repeat(300))], undefined);
    expect(items.size).toBe(0);
  });

  test('in a browser that blocks storage lasts as long as the page', () => {
    const blocked = (): never => {
      throw new DOMException('blocked', 'SecurityError');
    };
    expect(() => storeTurns(blocked, [question('a')], undefined)).not.toThrow();
    expect(storedTurns(blocked, undefined)).toEqual([]);
  });

  test.each([
    'no JSON',
    'null',
    '[]',
    '{"owner":""}',
    '{"owner":"","turns":{"length":1}}',
    '{"owner":"","turns":[null,1,{},{"role":"user"},{"role":"system","text":"a"},{"role":"assistant","text":"a"}]}',
    '{"owner":"","turns":[{"role":"assistant","text":"a","state":"running"}]}',
    '{"owner":"","turns":[{"role":"assistant","text":"a","state":"failed","failure":{"text":1}}]}',
    '{"owner":"","turns":[{"role":"assistant","text":"a","state":"done","model":{}}]}',
  ])('is not read from what is not ours: %s', (value) => {
    const { open, items } = newStorage();
    items.set('parlance-conversation', value);
    expect(storedTurns(open, undefined)).toEqual([]);
  });
});

test('a saved conversation is Markdown', () => {
  const turns = [
    question('Why?'),
    answer('Because:\n\n- one', { result: { ...result, content: 'Because:\n\n- one' } }),
    question('And?'),
    answer('Half', { state: 'stopped', model: 'kept' }),
    answer('', { state: 'failed', failure: { text: 'Too busy.' } }),
  ];
  expect(toMarkdown(turns, new Date('2026-11-25T00:00:00Z'))).toBe(`# Conversation of 2026-11-25

## You

Why?

## Answer (m)

Because:

- one

## You

And?

## Answer (kept)

Half

_Stopped._

## Answer

_Too busy._
`);
});

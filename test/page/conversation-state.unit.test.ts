/** The events of a run become an answer. */
import { describe, expect, test } from 'vitest';
import {
  applyEvent,
  excerptOf,
  fail,
  maxTextLength,
  messagesOf,
  newAnswer,
  stop,
  textOf,
  type Answer,
  type Question,
} from '../../page/conversation-state.ts';
import type { ChatEvent, ChatResult } from '../../src/client/index.ts';

type WithoutSeq<E> = E extends unknown ? Omit<E, 'seq'> : never;

const answerTo = (...events: readonly WithoutSeq<ChatEvent>[]): Answer =>
  events.reduce<Answer>((answer, event, seq) => applyEvent(answer, { ...event, seq }), newAnswer(1));

const content = (delta: string, step = 0) => ({ type: 'content.delta', step, delta }) as const;
const result: ChatResult = { content: 'Done.', model: 'm', finish_reason: 'stop', reasoning: null, usage: null };
const completed = { type: 'chat.completed', result } as const;
const started = { type: 'tool.started', step: 0, id: 't', name: 'search', arguments: { q: 1 } } as const;

describe('an answer', () => {
  test('joins the deltas of a kind, in the order of the events', () => {
    const { parts } = answerTo(
      { type: 'chat.started', id: 'r', model: 'm' },
      { type: 'step.started', step: 0 },
      { type: 'reasoning.delta', step: 0, delta: 'I ' },
      { type: 'reasoning.delta', step: 0, delta: 'think.' },
      content('Let me '),
      content('look.'),
      started,
      { type: 'audio.created', step: 0, id: 't', audio: { id: 'c', url: '/clip', content_type: 'audio/mpeg' } },
      { type: 'step.started', step: 1 },
      content('Done.', 1),
    );
    expect(parts).toEqual([
      { kind: 'reasoning', step: 0, text: 'I think.' },
      { kind: 'text', step: 0, text: 'Let me look.' },
      { kind: 'tool', id: 't', name: 'search', arguments: { q: 1 } },
      { kind: 'clip', id: 'c' },
      { kind: 'text', step: 1, text: 'Done.' },
    ]);
  });

  test.each([
    [
      { ok: true, output: 'found' },
      { ok: true, text: 'found', durationMs: 5 },
    ],
    [
      { ok: false, error: 'broken' },
      { ok: false, text: 'broken', durationMs: 5 },
    ],
    [{ ok: true }, { ok: true, text: '', durationMs: 5 }],
  ])('shows how a tool ended: %j', (facts, outcome) => {
    const finished = { type: 'tool.finished', step: 0, id: 't', name: 'search', duration_ms: 5, ...facts } as const;
    expect(answerTo(started, finished).parts).toMatchObject([{ outcome }]);
  });

  test('shows the progress of a tool where it has a total', () => {
    const progress = { type: 'tool.progress', step: 0, id: 't' } as const;
    expect(answerTo(started, { ...progress, progress: 1, total: 4, message: 'one' }).parts).toMatchObject([
      { progress: 0.25, message: 'one' },
    ]);
    expect(answerTo(started, { ...progress, progress: 9, total: 4 }).parts).toMatchObject([{ progress: 1 }]);
    expect(answerTo(started, { ...progress, progress: 9 }).parts[0]).not.toHaveProperty('progress');
  });

  test('keeps what has come when it fails or is stopped', () => {
    const instance = '6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40';
    const problem = { type: 't', title: 'T', status: 503, detail: 'Too busy.', code: 'overloaded', instance } as const;
    const partial = answerTo(content('Half'));
    expect(answerTo(content('Half'), { type: 'chat.failed', problem })).toEqual({
      ...partial,
      state: 'failed',
      failure: { text: 'Too busy.', code: 'overloaded', requestId: instance },
    });
    expect(fail(partial, new Error('odd'))).toMatchObject({ parts: partial.parts, failure: { text: 'odd' } });
    expect(stop(partial)).toEqual({ ...partial, state: 'stopped' });
  });

  test('has the text of its last step', () => {
    expect(textOf(answerTo(content('Let me look.'), content('Do', 1), content('ne', 1)))).toBe('Done');
    expect(textOf(answerTo(content('Let me look.'), completed))).toBe('Done.');
    expect(textOf(newAnswer(1))).toBe('');
  });
});

test.each([
  ['Good morning', 'Good morning'],
  [' two\n\n lines\t', 'two lines'],
  ['x'.repeat(40), 'x'.repeat(40)],
  ['x'.repeat(41), `${'x'.repeat(40)}…`],
  ['😀'.repeat(32_000), `${'😀'.repeat(40)}…`],
  [`${'word '.repeat(8)}word`, `${'word '.repeat(8).trim()}…`],
])('a message is named by its beginning: %j', (text, excerpt) => {
  expect(excerptOf(text)).toBe(excerpt);
});

describe('the messages of a request', () => {
  const question = (text: string): Question => ({ role: 'user', id: 0, text });

  test('are the questions and the answers with text', () => {
    expect(messagesOf([question('a'), answerTo(completed), question('b'), newAnswer(2)])).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'b' },
    ]);
  });

  test('are at most 100, and begin with a question', () => {
    const turns = Array.from({ length: 70 }, (_, i) => [question(`${i}`), answerTo(completed)]).flat();
    const messages = messagesOf([...turns, question('last')]);
    expect(messages).toHaveLength(99);
    expect(messages[0]).toEqual({ role: 'user', content: '21' });
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'last' });
  });

  test('are at most 100 with the system prompt, which comes first', () => {
    const turns = Array.from({ length: 70 }, (_, i) => [question(`${i}`), answerTo(completed)]).flat();
    const messages = messagesOf([...turns, question('last')], 'Be brief.');
    expect(messages).toHaveLength(100);
    expect(messages.slice(0, 2)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '21' },
    ]);
    expect(messagesOf([question('a')], ' \n')).toEqual([{ role: 'user', content: 'a' }]);
  });

  test('are no longer than the service takes', () => {
    expect(messagesOf([question('x'.repeat(maxTextLength + 1))])[0]?.content).toHaveLength(maxTextLength);
  });

  test('have the transcript that a question is about before it, and lose the end of the transcript, not the question', () => {
    const about = { title: 'memo.wav', text: 'Good morning.' };
    expect(messagesOf([{ ...question('Why?'), about }])).toEqual([
      { role: 'user', content: 'Transcript of the recording “memo.wav”:\n\nGood morning.\n\nWhy?' },
    ]);
    const long = { ...about, text: 'x'.repeat(2 * maxTextLength), untilMs: 1_000 };
    const [message] = messagesOf([{ ...question('y'.repeat(3_000)), about: long }]);
    expect(message?.content).toHaveLength(maxTextLength);
    expect(message?.content).toMatch(
      /^Transcript of the recording “memo\.wav” \(only its beginning\):\n\nx+\n\ny{3000}$/,
    );
    const full = question('y'.repeat(maxTextLength));
    expect(messagesOf([{ ...full, about: long }])).toEqual(messagesOf([full]));
  });
});

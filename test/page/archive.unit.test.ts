/** Everything as one file, and files that are not an export. */
import { describe, expect, test } from 'vitest';
import { fromArchive, toArchive } from '../../page/library/archive.ts';
import type { Whole } from '../../page/library/entry.ts';
import { toStored, toTurns } from '../../page/library/stored-turns.ts';
import { newAnswer, type Answer, type Turn } from '../../page/conversation-state.ts';
import { defaults } from '../../page/preference-storage.ts';

const entry = { id: 'abcdefghijk1', owner: '', kind: 'chat', title: 'Why?', updated: 5, revision: 3 } as const;
const turns = [
  { role: 'user', text: 'Why?' },
  { role: 'assistant', text: 'Bécause.', state: 'done', model: 'm' },
] as const;
const whole: Whole = { entry, content: { turns }, searchText: 'why?\nwhy?\nbecause.' };
const file = toArchive([whole], { ...defaults, systemPrompt: 'Be brief.' });

describe('an export', () => {
  test('is imported as it was, for the key that is in use', () => {
    const { added, known, refused, options } = fromArchive(file, [], 'owner');
    expect(added).toEqual([{ ...whole, entry: { ...entry, owner: 'owner', revision: 1 } }]);
    expect([known, refused]).toEqual([0, 0]);
    expect(options).toMatchObject({ systemPrompt: 'Be brief.' });
  });

  test('has transcripts, without the recording', () => {
    const transcript = {
      ...{ text: 'Bécause.', language: 'en', words: [], durationMs: 900 },
      segments: [{ start_ms: 0, end_ms: 900, text: 'Bécause.', speaker: 'A' }],
      turns: [{ start_ms: 0, end_ms: 900, text: 'Bécause.', speaker: 'A' }],
      speakers: [{ speaker: 'A', speech_ms: 900, name: 'Ada' }],
    };
    const content = { turns: [], transcript };
    const recording = new File(['sound'], 'memo.wav');
    const one: Whole = { entry: { ...entry, kind: 'transcript', job: 'j' }, content, searchText: 'x', file: recording };
    const { added } = fromArchive(toArchive([one], defaults), [], '');
    expect(added).toEqual([
      { entry: { ...entry, kind: 'transcript', revision: 1 }, content, searchText: 'why?\nada\nbecause.' },
    ]);
  });

  test('keeps what a question is about', () => {
    const about = { title: 'memo.wav', text: 'Good morning.', untilMs: 5 };
    const asked: Whole = { ...whole, content: { turns: [{ role: 'user', text: 'Why?', about }] } };
    expect(fromArchive(toArchive([asked], defaults), [], '').added[0]?.content).toEqual(asked.content);
  });

  test('adds nothing twice, and replaces nothing', () => {
    expect(fromArchive(file, [entry], '')).toMatchObject({ added: [], known: 1 });
    const { added } = fromArchive(file, [{ ...entry, updated: 6 }], '');
    expect(added).toHaveLength(1);
    expect(added[0]!.entry.id).not.toBe(entry.id);
  });

  test.each(['', 'no JSON', 'null', '[]', '{"entries":[]}', '{"parlance":1}', '{"parlance":1,"entries":{"length":1}}'])(
    'is not: %s',
    (text) => expect(() => fromArchive(text, [], '')).toThrow('This file is no export of this page.'),
  );

  test('of a later version is refused', () => {
    expect(() => fromArchive('{"parlance":2,"entries":[]}', [], '')).toThrow('another version');
  });

  test.each([
    ['no entry', null],
    ['another id', { ...entry, turns, id: '__proto__' }],
    ['another kind', { ...entry, turns, kind: 'virus' }],
    ['no title', { ...entry, turns, title: 1 }],
    ['no time', { ...entry, turns, updated: '5' }],
    ['no turns', { ...entry, turns: [] }],
    ['no transcript', { ...entry, kind: 'transcript', turns: [] }],
    [
      'a transcript with a turn',
      { ...entry, kind: 'transcript', turns, transcript: { text: '', segments: [], words: [] } },
    ],
    ['a question about nothing', { ...entry, turns: [{ role: 'user', text: 'a', about: { title: 'b' } }] }],
    ['a running answer', { ...entry, turns: [{ role: 'assistant', text: 'a', state: 'running' }] }],
    ['a model that is no text', { ...entry, turns: [{ role: 'assistant', text: 'a', state: 'done', model: {} }] }],
    ['an invalid failure', { ...entry, turns: [{ role: 'assistant', text: 'a', state: 'failed', failure: { text: 1 } }] }], // prettier-ignore
  ])('has an invalid entry, which is counted: %s', (_what, one) => {
    const text = JSON.stringify({ parlance: 1, entries: [one, { ...entry, turns }], options: { pauseMs: -1 } });
    expect(fromArchive(text, [], '')).toMatchObject({ added: [{ content: { turns } }], refused: 1, options: {} });
  });
});

test('turns are kept as text: without reasoning, tool calls and clips, and a running answer as stopped', () => {
  const failure = { text: 'Too busy.', code: 'overloaded', requestId: 'r' };
  const all: readonly Turn[] = [
    { role: 'user', id: 7, text: 'Why?' },
    {
      ...{ ...newAnswer(8), state: 'done' },
      result: { content: 'The answer.', model: 'm', finish_reason: 'stop', reasoning: null, usage: null },
      parts: [
        { kind: 'reasoning', step: 0, text: 'hidden thoughts' },
        { kind: 'tool', id: 't', name: 'search', arguments: { q: 'hidden query' } },
        { kind: 'clip', id: 'hidden clip' },
        { kind: 'text', step: 1, text: 'The answer.' },
      ],
    } satisfies Answer,
    { ...newAnswer(9), state: 'failed', failure },
    newAnswer(10),
  ];
  const stored = all.map(toStored);
  expect(JSON.stringify(stored)).not.toContain('hidden');
  expect(stored).toMatchObject([{}, { text: 'The answer.', model: 'm' }, { failure }, { state: 'stopped' }]);
  let lastId = 20;
  const again = toTurns(stored, all.slice(0, 2), () => ++lastId);
  expect(again.map(({ id }) => id)).toEqual([7, 8, 21, 22]);
});

/** The record of what services answer, and what a run of the tests makes of it. */
import { describe, expect, test, vi } from 'vitest';
import { contract } from '../../src/contract/document.ts';
import { coverageOf } from './coverage/report.ts';

vi.setConfig({ testTimeout: 120_000 });

describe('the coverage', () => {
  const everything = coverageOf(contract, new Set()).missing;
  const seenBy = (...notes: readonly string[]) => {
    const { missing } = coverageOf(contract, new Set(notes));
    return everything.filter((what) => !missing.includes(what));
  };

  test('counts each status of each operation, and each event', () => {
    expect(everything).toContain('createTranscription 504');
    expect(everything).toContain('getSpeechClip 206');
    expect(everything).toContain('event tool.progress');
    expect(new Set(everything).size).toBe(everything.length);
  });

  test.each([
    ['an answer', ['POST /api/v1/chat 429'], ['createChat 429']],
    ['a HEAD', ['HEAD /api/v1/tts/clips/abc 404'], ['getSpeechClip 404']],
    ['a 405', ['PATCH /api/v1/transcribe 405'], ['createTranscription 405', 'getTranscriptionAvailability 405']],
    ['an event', ['event chat.failed'], ['event chat.failed']],
  ])('knows %s', (_what, notes, seen) => {
    expect(seenBy(...notes).toSorted()).toEqual(seen);
  });

  test.each(['GET /healthz 200', 'POST /chat 200', 'DELETE /api/v1/chat 403', 'GET /api/v1/models 418', 'event other'])(
    'takes %j for nothing of the contract',
    (note) => expect(seenBy(note)).toEqual([]),
  );

  test('is a table with what is missing in brackets', () => {
    const { table } = coverageOf(contract, new Set(['GET /api/v1/models 200', 'event chat.started']));
    expect(table).toMatch(/^listChatModels +200 \[401\] \[403\] \[405\] \[500\] \[503\]$/m);
    expect(table).toMatch(/^events +chat\.started \[step\.started\]/m);
    expect(table).toContain(`2 of ${everything.length} seen`);
  });
});

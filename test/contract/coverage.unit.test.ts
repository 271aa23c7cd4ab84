/** What the notes of services show of the contract, and how they are kept for another run. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nativeContract, openaiContract } from '../../src/contract/document.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { fingerprint } from './coverage/fingerprint.ts';
import { coverageOf, keepNotes, keptNotes } from './coverage/report.ts';

describe('the coverage', () => {
  const everything = coverageOf(nativeContract.document, new Set()).missing;
  const seenBy = (...notes: readonly string[]) => {
    const { missing } = coverageOf(nativeContract.document, new Set(notes));
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

  test('is a table with missing entries in brackets', () => {
    const { table } = coverageOf(nativeContract.document, new Set(['GET /api/v1/models 200', 'event chat.started']));
    expect(table).toMatch(/^listChatModels +200 \[401\] \[403\] \[405\] \[429\] \[500\] \[503\]$/m);
    expect(table).toMatch(/^events +chat\.started \[step\.started\]/m);
    expect(table).toContain(`2 of ${everything.length} seen`);
  });
});

describe('the coverage under /v1', () => {
  const everything = coverageOf(openaiContract.document, new Set()).missing;
  const seenBy = (...notes: readonly string[]) => {
    const { missing } = coverageOf(openaiContract.document, new Set(notes));
    return everything.filter((what) => !missing.includes(what));
  };

  test('counts each status of each operation, and each kind of chunk', () => {
    expect(everything).toEqual(expect.arrayContaining(['retrieveModel 404', 'createTranscription 413']));
    for (const kind of ['error', '[DONE]']) expect(everything).toContain(`createChatCompletion ${kind}`);
    expect(new Set(everything).size).toBe(everything.length);
  });

  test('knows its own answers and chunks, and none of the native ones', () => {
    expect(seenBy('GET /v1/models/a%2Fb 404')).toEqual(['retrieveModel 404']);
    expect(seenBy('chunk /v1/chat/completions [DONE]')).toEqual(['createChatCompletion [DONE]']);
    expect(seenBy('event chat.failed', 'POST /api/v1/transcribe 200')).toEqual([]);
  });
});

describe('the notes that a run keeps for the next', () => {
  const notes = new Set(['GET /api/v1/models 200', 'event chat.started']);

  test('count for the same sources', async () => {
    const file = join(await temporaryDirectory(), 'cache/notes.json');
    await keepNotes(file, 'these', notes);
    expect(await keptNotes(file, 'these')).toEqual(notes);
  });

  test('do not count for others, nor when there are no notes', async () => {
    const file = join(await temporaryDirectory(), 'notes.json');
    expect(await keptNotes(file, 'these')).toBeUndefined();
    await keepNotes(file, 'these', notes);
    expect(await keptNotes(file, 'those')).toBeUndefined();
  });

  test('are outdated once a file has been changed, added or removed', async () => {
    const home = await temporaryDirectory();
    const folders = ['src', 'engines', 'lib', 'generated', 'test', 'bench'];
    await writeFiles(home, Object.fromEntries(folders.map((folder) => [`${folder}/deep/a.ts`, 'one'])));
    const prints = [await fingerprint(home), await fingerprint(home)];
    expect(prints[0]).toBe(prints[1]);
    await writeFiles(home, { 'lib/deep/a.ts': 'two' });
    prints.push(await fingerprint(home));
    await writeFiles(home, { 'test/b.ts': '' });
    prints.push(await fingerprint(home));
    await rm(join(home, 'test/deep/a.ts'));
    prints.push(await fingerprint(home));
    expect(new Set(prints).size).toBe(4);
  });
});

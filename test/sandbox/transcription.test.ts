/** The sandbox decodes the recording and returns a fixed sentence. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { wavHeader } from '../../lib/wav.ts';
import type { Answer } from '../support/http.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { serveSandbox } from './support.ts';

const sandbox = serveSandbox();

const words = () => readFile(spokenWords);

/** A second of mono s16 at 16 kHz, all of it this one sample or its opposite in turn. */
function second(sample: number): Buffer {
  const samples = Int16Array.from({ length: 16_000 }, (_, i) => (i % 2 === 0 ? sample : -sample));
  return Buffer.concat([wavHeader(samples.byteLength), new Uint8Array(samples.buffer)]);
}

async function transcribe(recording: Uint8Array, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const body = new FormData();
  body.set('file', new File([Buffer.from(recording)], 'memo.webm'));
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return sandbox.api.send('POST', '/api/v1/transcribe', { body });
}

describe('the sandbox', () => {
  it('is available, and says what it is', async () => {
    const { body } = await sandbox.api.get('/api/v1/transcribe');
    expect(body).toEqual({
      available: true,
      code: 'ready',
      reason: 'Sandbox: answers are made up.',
      model: 'sandbox-transcribe',
    });
    const { data } = (await sandbox.api.get('/api/v1/transcribe/models')).body as Schemas['ModelList'];
    expect(data.map(({ id }) => id)).toEqual(['sandbox-transcribe', 'sandbox-transcribe-slow']);
  });

  it('returns its sentence for every recording, with the real duration', async () => {
    const expected = {
      text: 'The sandbox has heard a recording.',
      language: 'en',
      duration_ms: 2100,
      model: 'sandbox-transcribe',
    };
    expect((await transcribe(await words())).body).toEqual(expected);
    expect((await transcribe(await words())).body).toEqual(expected);
    expect((await transcribe(second(3000))).body).toEqual({ ...expected, duration_ms: 1000 });
  });

  it.each([
    ['en', 'The sandbox has heard a recording.'],
    ['de', 'Die Sandbox hat eine Aufnahme gehört.'],
    ['es', 'El sandbox ha oído una grabación.'],
    ['fr', 'Le bac à sable a entendu un enregistrement.'],
  ])('returns it in the requested language (%s)', async (language, text) => {
    expect((await transcribe(await words(), { language })).body).toMatchObject({ language, text });
  });

  it('reports its segments and words, which share the duration', async () => {
    const path = join(await temporaryDirectory(), 'recording.wav');
    const content = second(3000);
    await writeFile(path, content);
    const recording = { path, bytes: content.length, container: 'wav', mediaType: 'audio/wav' } as const;
    const [model] = sandbox.service.service.registry.of('transcription').all;
    const { engine, engineId, entry } = model!;
    expect(entry.supports).toEqual(['prompt', 'temperature', 'segment', 'word', 'keywords', 'translate']);
    const events: unknown[] = [];
    const call = { recording, model: engineId, timestamps: ['segment', 'word'], prompt: 'a', temperature: 1 } as const;
    const { segments, words } = await engine.transcribe(call, {
      signal: new AbortController().signal,
      onSegment: (segment) => events.push(segment),
      onProgress: (ms) => events.push(ms),
    });
    expect(segments).toEqual([
      { startMs: 0, endMs: 345, text: 'The sandbox' },
      { startMs: 345, endMs: 621, text: 'has heard' },
      { startMs: 621, endMs: 1000, text: 'a recording.' },
    ]);
    expect(events).toEqual(segments?.flatMap((segment) => [segment, segment.endMs]));
    expect(words?.slice(0, 3)).toEqual([
      { startMs: 0, endMs: 104, text: 'The' },
      { startMs: 104, endMs: 345, text: 'sandbox' },
      { startMs: 345, endMs: 449, text: 'has' },
    ]);
    expect(words?.map(({ text }) => text).join(' ')).toBe('The sandbox has heard a recording.');
  });

  it('does not know other languages', async () => {
    const { status, problem } = await transcribe(await words(), { language: 'it' });
    expect({ status, code: problem.code }).toEqual({ status: 422, code: 'language-not-supported' });
    expect(problem.detail).toContain('en, de, es, fr');
    expect(problem.errors).toMatchObject([{ in: 'body', pointer: '/language' }]);
  });

  it.each([0, 100])('returns empty text for silence (samples of %d)', async (sample) => {
    const { body } = await transcribe(second(sample), { language: 'de' });
    expect(body).toEqual({ text: '', language: null, duration_ms: 1000, model: 'sandbox-transcribe' });
  });

  it('refuses what is no recording, and what cannot be decoded', async () => {
    expect((await transcribe(Buffer.from('%PDF-1.7 not a recording'))).problem.code).toBe('recording-not-accepted');
    const broken = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), Buffer.alloc(5000, 7)]);
    expect((await transcribe(broken)).problem.code).toMatch(/^recording-(not-accepted|undecodable)$/);
    expect((await transcribe(second(9), { model: 'other' })).problem.code).toBe('unknown-model');
  });

  it('takes three seconds with the slow model', async () => {
    const started = performance.now();
    const slow = { model: 'sandbox-transcribe-slow' };
    expect((await transcribe(await words(), slow)).body).toMatchObject({ model: slow.model, duration_ms: 2100 });
    expect(performance.now() - started).toBeGreaterThan(2_900);
  });

  it('lets a caller go who does not wait for that, and keeps nothing', async () => {
    await expect.poll(() => sandbox.service.leftovers()).toEqual([]); // of the tests before
    const caller = new AbortController();
    const body = new FormData();
    body.set('model', 'sandbox-transcribe-slow');
    body.set('file', new File([await words()], 'memo.wav'));
    const asked = sandbox.service.api('/transcribe', { method: 'POST', body, signal: caller.signal });
    await expect
      .poll(async () => (await sandbox.service.leftovers()).some((path) => path.endsWith('/upload')))
      .toBe(true);
    caller.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => sandbox.service.log.some(({ status }) => status === 499)).toBe(true);
    await expect.poll(() => sandbox.service.leftovers()).toEqual([]);
  });
});

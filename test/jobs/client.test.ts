/** The client with jobs: it survives a restart of the service. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { collect } from '../client/support/calls.ts';
import { failureOf } from '../client/support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { hookEngine, speechOf, textOf, wordEngine } from './support/speech.ts';

const env = { TRANSCRIBE_MAX_SECONDS: '4' };

describe('transcriptions', () => {
  test('are created, read, followed and deleted', async () => {
    await using service = await startTestService({ ...wordEngine, env });
    const { transcriptions } = createClient({ baseUrl: service.url });
    const { id } = await transcriptions.create(speechOf(12), { model: 'words', timestamps: 'segment' });
    const result = await transcriptions.wait(id);
    expect(result.text).toBe(textOf(12));
    expect(await transcriptions.get(id, { wait: 1 })).toMatchObject({ id, status: 'completed', result });
    const events = await collect(transcriptions.events(id));
    expect(events.at(-1)).toMatchObject({ type: 'transcription.completed', result });
    expect(await collect(transcriptions.events(id, { after: 3 }))).toEqual(events.slice(4));
    expect(await transcriptions.transcript(id)).toBe(textOf(12));
    expect(await transcriptions.transcript(id, { format: 'vtt' })).toMatch(/^WEBVTT\n/);
    await transcriptions.delete(id);
    expect(await failureOf(transcriptions.get(id))).toMatchObject({ status: 404, code: 'transcription-not-found' });
    expect(await failureOf(transcriptions.wait(id))).toMatchObject({ code: 'transcription-not-found' });
  });

  test('are translated, with the keywords in each part of them', async () => {
    const asked: unknown[] = [];
    using _hook = hookEngine(({ translate, keywords }) => void asked.push({ translate, keywords }));
    await using service = await startTestService({ ...wordEngine, env });
    const { transcriptions } = createClient({ baseUrl: service.url });
    const keywords = ['Ada', 'Grace Hopper'];
    const { id } = await transcriptions.create(speechOf(12), { model: 'words', task: 'translate', keywords });
    await transcriptions.wait(id);
    expect(asked.length).toBeGreaterThan(1);
    for (const one of asked) expect(one).toEqual({ translate: true, keywords });
    for (const options of [{ task: 'translate' }, { keywords }] as const) {
      const refused = transcriptions.create(speechOf(1), { model: 'plain', ...options });
      expect(await failureOf(refused)).toMatchObject({ status: 422, code: 'parameter-not-supported' });
    }
  });

  test('that fail reject the wait with their problem', async () => {
    await using service = await startTestService({ ...wordEngine, env });
    const { transcriptions } = createClient({ baseUrl: service.url });
    const { id } = await transcriptions.create(Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'));
    expect(await failureOf(transcriptions.wait(id))).toMatchObject({ status: 422, code: 'recording-undecodable' });
  });

  test('are waited for and followed across a restart', async () => {
    const options = {
      ...wordEngine,
      env: { ...env, PORT: String(await freePort()), DATA_DIR: await temporaryDirectory() },
    };
    const reached = Promise.withResolvers<undefined>();
    let parts = 0;
    using _hook = hookEngine(({ signal }) => {
      parts += 1;
      if (parts !== 2) return undefined;
      reached.resolve(undefined);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const first = await startTestService(options);
    const { transcriptions } = createClient({ baseUrl: first.url });
    const { id } = await transcriptions.create(speechOf(16));
    const [waiting, following] = [transcriptions.wait(id), collect(transcriptions.events(id))];
    await reached.promise;
    await first[Symbol.asyncDispose]();
    await using _second = await startTestService(options);
    expect((await waiting).text).toBe(textOf(16));
    const events = await following;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, place) => place));
    expect(events.at(-1)?.type).toBe('transcription.completed');
  });

  test('can be given up by the caller alone', async () => {
    const held = Promise.withResolvers<undefined>();
    using _hook = hookEngine(() => held.promise);
    await using service = await startTestService({ ...wordEngine, env });
    const { transcriptions } = createClient({ baseUrl: service.url });
    const { id } = await transcriptions.create(speechOf(4));
    const leaving = new AbortController();
    const waiting = transcriptions.wait(id, { signal: leaving.signal });
    leaving.abort(new Error('no more'));
    await expect(waiting).rejects.toThrow('no more');
    held.resolve(undefined);
    expect((await transcriptions.wait(id)).text).toBe(textOf(4));
  });
});

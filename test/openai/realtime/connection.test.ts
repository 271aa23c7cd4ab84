/** Live transcription over a real socket, with scripted engines: the statuses of the upgrade, and sessions side by side. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KeyRules } from '../../../src/keys/key.ts';
import { breakListings } from '../../contract/support/defect.ts';
import { recordUpgrade } from '../../contract/coverage/recorder.ts';
import { keysFile, tokenOf } from '../../keys/support/keys.ts';
import { quiet, sound, voice } from '../../realtime/support.ts';
import { createApi, type Answer } from '../../support/http.ts';
import { commitEvent, inputUpdate, openLiveSession, transcription } from '../../support/realtime-client.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { scriptedTranscription } from '../support/audio.ts';

const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService(scriptedTranscription);
});
afterAll(() => service[Symbol.asyncDispose]());

async function connect(query: string, to = service): Promise<Answer> {
  const answer = await createApi(to.url).get(`/v1/realtime${query}`, upgrade);
  recordUpgrade('/v1/realtime', answer.status);
  return answer;
}

describe('before the upgrade', () => {
  it.each([
    ['', 503, 'no_engine'],
    ['?model=gpt-realtime', 503, 'no_engine'],
    ['?intent=conversation', 400, 'invalid_request'],
    ['?intent=transcription&call_id=rtc_1', 400, 'invalid_request'],
    ['?intent=transcription&model=absent', 404, 'model_not_found'],
  ])('/v1/realtime%s answers %i %s', async (query, status, code) => {
    const answer = await connect(query);
    expect([answer.status, answer.error.code]).toEqual([status, code]);
  });

  it('answers 500 for a defect and 503 without an engine', async () => {
    await using broken = await startTestService(scriptedTranscription);
    using _defect = breakListings(broken);
    expect((await connect('?intent=transcription', broken)).status).toBe(500);
    await using without = await startTestService({ config: 'engines: {}\n' });
    expect((await connect('?intent=transcription', without)).status).toBe(503);
  });
});

describe('a session', () => {
  const second = new Uint8Array(48_000).fill(1);
  const hints = (prompt: string) =>
    inputUpdate({ turn_detection: null, transcription: { model: 'full', prompt, language: 'de-DE' } });

  it('sends deltas by segment, and the whole transcript', async () => {
    const session = await openLiveSession(service, 'intent=transcription&model=full');
    session.say(hints(''));
    session.sound(second);
    session.say(commitEvent);
    const [completed] = await session.until(`${transcription}completed`);
    expect(completed).toMatchObject({ transcript: 'Guten Morgen, Welt.', usage: { type: 'duration', seconds: 1 } });
    expect((await session.until(`${transcription}delta`)).map(({ delta }) => delta)).toEqual([
      'Guten Morgen,',
      ' Welt.',
    ]);
  });

  it('continues after a transcription that failed, with another session beside it', async () => {
    const [one, other] = [await openLiveSession(service), await openLiveSession(service)];
    for (const session of [one, other]) session.say(hints(session === one ? 'fail' : ''));
    for (const session of [one, other]) session.sound(second);
    for (const session of [one, other]) session.say(commitEvent);
    const [failed] = await one.until(`${transcription}failed`);
    expect(failed).toMatchObject({ error: { type: 'server_error', code: 'provider_error' } });
    await other.until(`${transcription}completed`);
    one.say(hints(''));
    one.sound(second);
    one.say(commitEvent);
    await one.until(`${transcription}completed`);
    expect(one.events.some(({ type }) => type === 'error')).toBe(false);
  });

  it('continues after a turn that could not be written', async () => {
    await using own = await startTestService(scriptedTranscription);
    const session = await openLiveSession(own);
    session.say(hints(''));
    session.sound(second);
    let files: string[] = [];
    await expect.poll(async () => (files = await own.leftovers())).toHaveLength(2);
    const directory = join(own.dir, 'data', 'tmp', dirname(files.find((file) => file.endsWith('.wav'))!));
    session.say({ type: 'input_audio_buffer.clear' });
    await session.until('input_audio_buffer.cleared');
    await rm(directory, { recursive: true });
    session.sound(second);
    session.say(commitEvent);
    expect(await session.until(`${transcription}failed`)).toMatchObject([{ error: { type: 'server_error' } }]);
    await mkdir(directory);
    session.sound(second);
    session.say(commitEvent);
    await session.until(`${transcription}completed`);
  });

  it.each([
    ['rate_limit_exceeded', { requestsPerMinute: 2 }],
    ['insufficient_quota', { audioMinutesPerDay: 0.01 }],
  ])('continues after a turn that a limit of its key refuses: %s', async (code, limits) => {
    await using limited = await startTestService({
      ...scriptedTranscription,
      env: { API_KEYS_FILE: 'keys.yaml' },
      files: { ...scriptedTranscription.files, 'keys.yaml': keysFile({ name: 'app', limits }) },
    });
    const session = await openLiveSession(limited, 'intent=transcription&model=full', tokenOf('app'));
    session.say(hints(''));
    for (const end of ['completed', 'failed']) {
      session.sound(second);
      session.say(commitEvent);
      await session.until(`${transcription}${end}`);
    }
    expect(await session.until(`${transcription}failed`)).toMatchObject([{ error: { code } }]);
    session.say({ type: 'input_audio_buffer.clear' });
    await session.until('input_audio_buffer.cleared');
    expect(session.events.some(({ type }) => type === 'error')).toBe(false);
  });

  it('ends when its key loses the model, and is otherwise subject to the new models and limits of the key', async () => {
    const keys = (entry: KeyRules) => keysFile({ name: 'app', ...entry });
    const files = { ...scriptedTranscription.files, 'keys.yaml': keys({ models: ['full', 'plain', 'prompts'] }) };
    const env = { API_KEYS_FILE: 'keys.yaml' };
    await using limited = await startTestService({ ...scriptedTranscription, env, files, socketCheckMs: 20 });
    const open = (model: string) => openLiveSession(limited, `intent=transcription&model=${model}`, tokenOf('app'));
    const [plain, switched, kept] = [await open('plain'), await open('full'), await open('prompts')];
    for (const [session, model] of [
      [switched, 'plain'],
      [kept, 'full'],
    ] as const) {
      session.say(inputUpdate({ turn_detection: null, transcription: { model } }));
      await session.until('session.updated');
    }
    const changed = keys({ models: ['full', 'prompts'], limits: { audioMinutesPerDay: 0.01 } });
    await writeFile(join(limited.dir, 'keys.yaml'), changed);
    await limited.service.reload();
    expect(await Promise.all([plain.closed, switched.closed])).toEqual([1008, 1008]);
    kept.say(inputUpdate({ transcription: { model: 'plain' } }));
    expect(await kept.until('error')).toMatchObject([{ error: { code: 'model_not_allowed' } }]);
    for (const end of ['completed', 'failed']) {
      kept.sound(second);
      kept.say(commitEvent);
      await kept.until(`${transcription}${end}`);
    }
    expect(await kept.until(`${transcription}failed`)).toMatchObject([{ error: { code: 'insufficient_quota' } }]);
  });

  it('with an open turn ends after its transcript when the service stops', async () => {
    await using stopping = await startTestService(scriptedTranscription);
    const session = await openLiveSession(stopping);
    session.say(hints(''));
    session.sound(sound(24_000, [quiet, 200], [voice, 800]));
    await expect.poll(() => stopping.leftovers()).toHaveLength(2);
    const stopped = stopping.service.stop(60_000);
    session.say(commitEvent);
    await session.until(`${transcription}completed`);
    expect(await session.closed).toBe(1012);
    await stopped;
  });

  it('with an open turn is transcribed some seconds before the service ends its requests', async () => {
    await using stopping = await startTestService(scriptedTranscription);
    const session = await openLiveSession(stopping);
    session.say(hints(''));
    session.sound(sound(24_000, [quiet, 200], [voice, 800]));
    await expect.poll(() => stopping.leftovers()).toHaveLength(2);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const stopped = stopping.service.stop(60_000);
    vi.advanceTimersByTime(55_000);
    vi.useRealTimers();
    await session.until(`${transcription}completed`);
    expect(await session.closed).toBe(1012);
    await stopped;
  });

  it('of the sandbox has transcripts', async () => {
    await using sandbox = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    const session = await openLiveSession(sandbox);
    session.say(inputUpdate({ turn_detection: null }));
    session.sound(sound(24_000, [voice, 1_000]));
    session.say(commitEvent);
    const [completed] = await session.until(`${transcription}completed`);
    expect(completed?.transcript).not.toBe('');
  });

  it('ends its work when the client leaves', async () => {
    const session = await openLiveSession(service);
    session.say(hints('hang'));
    session.sound(second);
    session.say(commitEvent);
    await session.until(`${transcription}delta`);
    const before = service.log.filter(({ msg }) => msg === 'ended').length;
    session.leave();
    await expect.poll(() => service.log.filter(({ msg }) => msg === 'ended').length).toBeGreaterThan(before);
    await expect.poll(() => service.leftovers()).toEqual([]);
  });
});

/** Without a settings file, local-voice speaks once it is installed, and eSpeak NG speaks the other languages. */
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { processesWith } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { recognize } from '../support/tone-listener.ts';
import { writeVoice } from '../support/voice-model.ts';
import { chat, scriptedEngines } from './support.ts';

interface Listing {
  readonly default: string;
  readonly data: readonly { readonly id: string; readonly code: string; readonly reason: string }[];
}

async function start(env: Readonly<Record<string, string>> = {}, config?: string) {
  const service = await startTestService({ env, ...(config !== undefined && { ...scriptedEngines(null), config }) });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const listing = async () => (await (await service.api('/tts/models')).json()) as Listing;
  return { service, listing };
}

/** A voice that says letters as tones; nothing else does. */
const toneVoice = async () => writeVoice(await temporaryDirectory(), 'tones');

async function speak(service: TestService, more: object = {}): Promise<string> {
  const answer = await service.post('/tts', { text: 'yes no hello', format: 'wav', ...more });
  expect(answer.status).toBe(200);
  return recognize(Buffer.from(await answer.arrayBuffer()));
}

const said = 'yes no hello';

describeWith(['espeak-ng'], 'before it is installed', () => {
  test('local-voice is listed with the command that installs it, and eSpeak NG speaks', async () => {
    const { service, listing } = await start();
    const { data, default: usual } = await listing();
    const reason = 'English voice (female, clear) is not installed: run `npm run setup -- voice`.';
    expect(data[0]).toMatchObject({ id: 'local-voice', code: 'model-file-missing', reason });
    expect(data[0]).toHaveProperty('voices', [
      { id: 'en_US-ljspeech-medium', name: 'English voice (female, clear)', language: 'en' },
    ]);
    expect(usual).toBe('espeak');
    expect(await speak(service)).not.toBe(said);
    for (const named of [{ model: 'local-voice' }, { voice_id: 'en_US-ljspeech-medium' }]) {
      const refused = await service.post('/tts', { text: 'yes', ...named });
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 503,
        body: { code: 'model-unavailable', detail: reason },
      });
    }
  });

  test('without eSpeak NG, too, the answer is the command', async () => {
    const engines = { voice: { use: 'sherpa-voice' }, espeak: { use: 'espeak', program: '/nowhere/espeak-ng' } };
    const { service } = await start({}, JSON.stringify({ engines }));
    const refused = await service.post('/tts', { text: 'yes' });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('npm run setup -- voice') as string });
  });
});

describeWith(['espeak-ng'], 'once it is installed', () => {
  test('it is the default, and keeps the voices of eSpeak NG within reach', async () => {
    const { service, listing } = await start({ VOICE_MODEL: await toneVoice() });
    expect(await listing()).toMatchObject({ default: 'local-voice', data: [{ id: 'local-voice', code: 'ready' }, {}] });
    expect(await speak(service)).toBe(said);
    expect(await speak(service, { voice_id: 'tones' })).toBe(said);
    expect(await speak(service, { voice_id: 'de' })).not.toBe(said);
    expect((await service.post('/tts', { text: 'yes', voice_id: 'absent' })).status).toBe(422);
    expect((await service.post('/tts', { text: 'yes', model: 'local-voice', voice_id: 'de' })).status).toBe(422);
  });

  test('through the OpenAI-compatible API, too', async () => {
    const { service } = await start({ VOICE_MODEL: await toneVoice() });
    const modelFor = async (model: string, voice: string) => {
      const body = JSON.stringify({ model, voice, input: 'yes' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${service.url}/v1/audio/speech`, { method: 'POST', headers, body });
      return answer.ok ? answer.headers.get('x-parlance-model') : answer.status;
    };
    expect(await modelFor('tts-1', 'alloy')).toBe('local-voice');
    expect(await modelFor('tts-1', 'de')).toBe('espeak');
    expect(await modelFor('espeak', 'de')).toBe('espeak');
    expect(await modelFor('local-voice', 'de')).toBe(400);
    expect(await modelFor('tts-1', 'absent')).toBe(400);
  });

  test('TTS_VOICE selects the entry that has it', async () => {
    const { service, listing } = await start({ VOICE_MODEL: await toneVoice(), TTS_VOICE: 'de' });
    expect((await listing()).default).toBe('espeak');
    expect(await speak(service)).not.toBe(said);
    expect(await speak(service, { voice_id: 'tones' })).toBe(said);
  });

  test('TTS_MODEL is not replaced', async () => {
    const { service, listing } = await start({ VOICE_MODEL: await toneVoice(), TTS_MODEL: 'espeak' });
    expect((await listing()).default).toBe('espeak');
    expect((await service.post('/tts', { text: 'yes', voice_id: 'tones' })).status).toBe(422);
  });

  test('read_aloud takes eSpeak NG for a language that it does not speak', async () => {
    const voice = { use: 'sherpa-voice', voices: [{ id: 'tones', file: await toneVoice() }] };
    const engines = { chat: { use: './chat.mjs' }, voice, espeak: { use: 'espeak' } };
    const { service } = await start({}, JSON.stringify({ engines }));
    const loaded = () => processesWith(join(service.dir, 'data')).length;
    const readAloud = async (language: string, more: object = {}) =>
      (await chat(service, { calls: [[{ text: 'ja nein', language }]] }, more)).said[0];
    const done = 'The text is being read aloud to the user now.';
    expect([await readAloud('de'), loaded()]).toEqual([done, 0]);
    expect([await readAloud('en'), loaded()]).toEqual([done, 1]);
    const named = await readAloud('de', { tts_model: 'local-voice' });
    expect(named).toBe('No voice of this model speaks "de"; languages: en. The engine espeak has voices for most languages.'); // prettier-ignore
  });
});

describe('an instance without options', () => {
  test('names the voices of the catalog when one is wrong', async () => {
    const config = (voice: string) => JSON.stringify({ engines: { voice: { use: 'sherpa-voice', voices: [voice] } } });
    await expect(start({}, config('en_US-ljspeech-medum'))).rejects.toThrow(
      /^engines\.voice: voices: the catalog has no voice "en_US-ljspeech-medum"; did you mean en_US-ljspeech-medium\? known: en_US-ljspeech-medium, .*; or an object with file or folder$/,
    );
    await expect(start({}, config('toString'))).rejects.toThrow('the catalog has no voice "toString"; known: en_US-');
  });
});

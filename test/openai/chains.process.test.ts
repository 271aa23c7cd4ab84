/** Recordings of known tones and chats through chains: another Parlance, and @portkey-ai/gateway, before the real whisper-cli. */
import type OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type Gateway } from '../../bench/support/chat-services.ts';
import { startLocalService } from '../support/local-service.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { tonePcm, wav } from '../support/tone-model.ts';
import { sdkOf, speech } from './support/audio.ts';

const rate = 16_000;

/** Words in the first and in the second window of 30 s. */
function recording(): File {
  const first = tonePcm({ words: ['alpha', 'bravo', 'über'], rate, tailSeconds: 28 });
  const second = tonePcm({ words: ['kilo', 'golf'], rate });
  const bytes = wav(Int16Array.from([...first, ...second]), { rate, channels: 1 });
  return new File([new Uint8Array(bytes)], 'tones.wav');
}

describeWith(['whisper-cli'], 'through a chain', () => {
  let back: TestService;
  let front: TestService;
  let gateway: Gateway;
  let sandbox: TestService;
  let chats: Gateway;
  beforeAll(async () => {
    back = await startLocalService();
    const there = '{ id: there, remoteId: local, supports: [segment, word] }';
    const stt = `{ use: hosted-stt, baseUrl: "${back.url}/v1", apiKey: none, models: [${there}] }`;
    front = await startTestService({ config: `engines: { stt: ${stt} }` });
    gateway = await startGateway({ baseUrl: `${back.url}/v1` });
    sandbox = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    chats = await startGateway({ baseUrl: `${sandbox.url}/v1` });
  });
  afterAll(async () => {
    for (const each of [gateway, chats, front, back, sandbox]) await each[Symbol.asyncDispose]();
  });

  const portkey = ({ url, headers }: Gateway) =>
    sdkOf({ url: new URL(url).origin }, { defaultHeaders: withoutType(headers) });
  const sdks: Readonly<Record<string, () => OpenAI>> = {
    'another Parlance': () => sdkOf(front),
    Portkey: () => portkey(gateway),
  };
  const ways = Object.entries(sdks);
  const direct = () => sdkOf(back);

  const verbose = (sdk: OpenAI) =>
    sdk.audio.transcriptions.create({
      ...{ file: recording(), model: 'whisper-1', response_format: 'verbose_json' as const },
      timestamp_granularities: ['word', 'segment'],
    });

  test.each(ways)('%s: verbose_json is that of the model, times included', async (_way, sdk) => {
    const expected = await verbose(direct());
    expect(expected.segments).toMatchObject([{ text: 'alpha bravo über' }, { text: ' kilo golf' }]);
    expect(expected.words).toHaveLength(5);
    expect(await verbose(sdk())).toEqual(expected);
  });

  test('another Parlance: so are subtitles', async () => {
    const ask = (sdk: OpenAI) =>
      sdk.audio.transcriptions.create({ file: recording(), model: 'whisper-1', response_format: 'srt' });
    expect(await ask(sdkOf(front))).toBe(await ask(direct()));
  });

  // On Node 24 this gateway wraps text in JSON and forwards neither streams nor audio, with any provider.
  test('Portkey: json and chats are those of the service', async () => {
    const [through, alone] = [portkey(chats), sdkOf(sandbox)];
    const transcribe = (sdk: OpenAI) => sdk.audio.transcriptions.create({ file: speech(), model: 'whisper-1' });
    expect(await transcribe(through)).toEqual(await transcribe(alone));
    const body = { model: 'sandbox-chat', messages: [{ role: 'user' as const, content: 'Hello there.' }] };
    const message = async (sdk: OpenAI) => (await sdk.chat.completions.create(body)).choices[0]?.message;
    expect(await message(through)).toEqual(await message(alone));
  });

  test('Portkey: an error keeps its status and its code', async () => {
    const body = { model: 'absent', messages: [{ role: 'user' as const, content: 'Hi' }] };
    await expect(portkey(chats).chat.completions.create(body)).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

/** The SDK sets the content type of each request. */
function withoutType({ 'content-type': _type, ...others }: Readonly<Record<string, string>>): Record<string, string> {
  return others;
}

/** Requests to the provider, and how its responses reach the client. */
import { describe, expect, test } from 'vitest';
import { answers } from '../../support/provider.ts';
import { begins, bodyOf, chunk, key, mp3, pcm, readerOf, speaks, startTts, synthesize, wav } from './support.ts';
import type { HostedOptions } from '../providers/support.ts';
import { wavSamples } from '../../support/wav-samples.ts';

const ogg = (codec: string) =>
  Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from(codec), Buffer.alloc(99)]);
const flac = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(99)]);
const adts = Buffer.concat([Buffer.from('fff150400c9ffc', 'hex'), Buffer.alloc(93)]);

describe('a request', () => {
  test("matches OpenAI's documentation, with the key", async () => {
    const { speak, provider } = await startTts();
    expect((await speak({ text: ' Good morning.\n' })).status).toBe(200);
    const [call] = provider.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/v1/audio/speech' });
    expect(call?.headers).toMatchObject({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
    expect(await bodyOf(call)).toEqual({ model: 'remote', input: 'Good morning.', response_format: 'mp3' });
  });

  test('uses the remote id of the model, and contains the instructions', async () => {
    const models = '[{ id: ours, remoteId: theirs, instructions: Whisper. }]';
    const { speak, provider } = await startTts(speaks(mp3), { models, engine: 'path: /speak' });
    expect((await speak({ model: 'ours' })).status).toBe(200);
    expect(provider.calls[0]?.path).toBe('/v1/speak');
    expect(await bodyOf(provider.calls[0])).toMatchObject({ model: 'theirs', instructions: 'Whisper.' });
  });

  test("uses Mistral's name for the voice field", async () => {
    const { speak, provider } = await startTts(answers(200, { audio_data: mp3.toString('base64') }), {
      engine: 'api: mistral',
    });
    const { bytes, headers } = await speak({ voice_id: 'gb_jane_neutral' });
    expect(bytes.equals(mp3)).toBe(true);
    expect(headers.get('content-type')).toBe('audio/mpeg');
    const asked = { model: 'remote', input: 'Good morning.', response_format: 'mp3', voice_id: 'gb_jane_neutral' };
    expect(await bodyOf(provider.calls[0])).toEqual(asked);
  });
});

describe('speed and instructions', () => {
  const supportsOf = async (options?: HostedOptions) => {
    const { service } = await startTts(speaks(mp3), options);
    return service.service.registry.of('speech').all[0]?.entry.supports;
  };

  test('are forwarded, and those of a request take precedence', async () => {
    const tts = await startTts(speaks(mp3), { models: '[{ id: remote, instructions: Whisper. }]' });
    await synthesize(tts, { speed: 1.25, instructions: 'Shout.' });
    await synthesize(tts, { speed: 0.5 });
    expect(await bodyOf(tts.provider.calls[0])).toMatchObject({ speed: 1.25, instructions: 'Shout.' });
    expect(await bodyOf(tts.provider.calls[1])).toMatchObject({ speed: 0.5, instructions: 'Whisper.' });
  });

  test("are supported by OpenAI's API, and by others as the settings say", async () => {
    expect(await supportsOf()).toEqual(['speed', 'instructions']);
    expect(await supportsOf({ models: '[{ id: remote, supports: [speed] }]' })).toEqual(['speed']);
    expect(await supportsOf({ engine: 'api: mistral' })).toEqual([]);
    const models = '[{ id: remote, supports: [instructions] }]';
    expect(await supportsOf({ engine: 'api: mistral', models })).toEqual(['instructions']);
  });

  test('a speed that the provider rejects is blamed on the request', async () => {
    const error = { message: 'speed must be 1', type: 'invalid_request_error', param: 'speed' };
    const tts = await startTts(answers(400, { error }));
    await expect(synthesize(tts, { speed: 2 })).rejects.toMatchObject({ code: 'parameter-not-supported' });
  });
});

describe('the voice is', () => {
  const models = '[{ id: remote, voices: [alloy, { id: jonas, name: Jonas, language: de }], defaultVoice: jonas }]';

  test.each([
    { name: 'the requested one', models, asked: { voice_id: 'alloy' }, voice: 'alloy' },
    { name: 'else the default', models, asked: {}, voice: 'jonas' },
    {
      name: 'else the first listed one',
      models: '[{ id: remote, voices: [alloy, echo] }]',
      asked: {},
      voice: 'alloy',
    },
    { name: 'else none', models: '[remote]', asked: {}, voice: undefined },
    { name: 'any requested one, if none are listed', models: '[remote]', asked: { voice_id: 'x' }, voice: 'x' },
    { name: 'the default, if none are listed', models: '[{ id: remote, defaultVoice: y }]', asked: {}, voice: 'y' },
  ])('$name', async ({ models, asked, voice }) => {
    const { speak, provider } = await startTts(speaks(mp3), { models });
    expect((await speak(asked)).status).toBe(200);
    expect((await bodyOf(provider.calls[0])).voice).toBe(voice);
  });

  test('rejected without a request, if it is not listed', async () => {
    const { speak, provider } = await startTts(speaks(mp3), { models });
    const { problem } = await speak({ voice_id: 'nova' });
    expect(problem).toMatchObject({ status: 422, code: 'voice-not-supported' });
    expect(problem.detail).toContain('nova');
    expect(provider.calls).toEqual([]);
  });
});

describe('a response', () => {
  test.each([
    { format: 'mp3', audio: mp3, type: 'audio/mpeg' },
    { format: 'mp3', audio: Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x05hello'), mp3]), type: 'audio/mpeg' },
    { format: 'opus', audio: ogg('OpusHead'), type: 'audio/ogg' },
    { format: 'flac', audio: flac, type: 'audio/flac' },
    { format: 'aac', audio: adts, type: 'audio/aac' },
  ])('in $format is passed through unchanged', async ({ format, audio, type }) => {
    const { speak, provider } = await startTts(speaks(audio, 'application/octet-stream'), {
      models: '[{ id: remote, formats: [mp3, opus, flac, aac] }]',
    });
    const { bytes, headers } = await speak({ format });
    expect(bytes.equals(audio)).toBe(true);
    expect(headers.get('content-type')).toBe(type);
    expect(await bodyOf(provider.calls[0])).toMatchObject({ response_format: format });
  });

  test('is streamed', async () => {
    const { service, provider } = await startTts(begins(mp3));
    const reader = readerOf(await service.post('/tts', { text: 'Good morning.' }));
    expect((await reader.read()).value).toEqual(new Uint8Array(mp3));
    provider.calls[0]!.socket.write(Buffer.concat([chunk(mp3), chunk(Buffer.alloc(0))]));
    expect((await reader.read()).value?.length).toBe(mp3.length);
    expect((await reader.read()).done).toBe(true);
  });

  test.each(['wav', 'ogg'])('in %s is encoded from pcm', async (format) => {
    const { speak, provider } = await startTts(speaks(pcm(0.5), 'audio/pcm'));
    const { bytes, headers } = await speak({ format });
    expect(headers.get('content-type')).toBe(`audio/${format}`);
    expect(await bodyOf(provider.calls[0])).toMatchObject({ response_format: 'pcm' });
    expect(bytes.toString('latin1', 0, 4)).toBe(format === 'wav' ? 'RIFF' : 'OggS');
    if (format === 'wav') expect(wavSamples(bytes).equals(pcm(0.5))).toBe(true);
  });

  test("in wav has the provider's sample rate and the true length", async () => {
    const { speak } = await startTts(speaks(wav(pcm(0.5, { rate: 16_000 }), { rate: 16_000, says: 0xffff_ffff })), {
      models: '[{ id: remote, formats: [wav] }]',
    });
    const { bytes } = await speak({ format: 'wav' });
    expect(bytes.readUInt32LE(24)).toBe(16_000);
    expect(wavSamples(bytes)).toHaveLength(16_000);
  });

  test('in a format that neither the provider nor we support is rejected without a request', async () => {
    const { speak, provider } = await startTts(speaks(mp3), { models: '[{ id: remote, formats: [mp3] }]' });
    expect((await speak({ format: 'ogg' })).problem).toMatchObject({ status: 422, code: 'format-not-supported' });
    expect(provider.calls).toEqual([]);
  });

  test.each(['audio_data', 'audio', 'data'])('may be JSON with base64 in %s', async (field) => {
    const { speak } = await startTts(answers(200, { [field]: pcm(0.5).toString('base64') }));
    const { bytes } = await speak({ format: 'wav' });
    expect(wavSamples(bytes).equals(pcm(0.5))).toBe(true);
  });
});

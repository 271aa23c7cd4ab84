/** It speaks in tones, in every format. */
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { serveSandbox } from './support.ts';
import { wavSamples } from '../support/wav-samples.ts';

const sandbox = serveSandbox();

async function speak(request: object): Promise<{ type: string | null; sound: Buffer }> {
  const response = await sandbox.service.post('/tts', request);
  if (response.status !== 200) throw new Error(await response.text());
  return { type: response.headers.get('content-type'), sound: Buffer.from(await response.arrayBuffer()) };
}

const samplesOf = (wav: Buffer) => new Int16Array(Uint8Array.from(wavSamples(wav)).buffer);

describe('the sandbox', () => {
  it('lists its voices', async () => {
    const { body } = await sandbox.api.get('/api/v1/tts/models');
    const { data, default: standard } = body as Schemas['SpeechModelList'];
    expect(standard).toBe('sandbox-speech');
    expect(data.map(({ id }) => id)).toEqual(['sandbox-speech', 'sandbox-speech-slow']);
    expect(data[0]?.voices.map(({ id, language }) => [id, language])).toEqual([
      ['en', 'en'],
      ['de', 'de'],
      ['es', 'es'],
      ['fr', 'fr'],
    ]);
  });

  it('speaks the same every time: 50 ms a byte, 100 ms between words, half a second around them', async () => {
    const { sound } = await speak({ text: 'ab, cdef!', format: 'wav' });
    const ms = samplesOf(sound).length / 16;
    expect(ms).toBe(500 + (3 + 2) * 50 + 100 + (5 + 2) * 50 + 100 + 500);
    expect((await speak({ text: 'ab, cdef!', format: 'wav' })).sound.equals(sound)).toBe(true);
  });

  it('speaks faster and in another way if asked', async () => {
    const [model] = sandbox.service.service.registry.of('speech').all;
    const { engine, engineId, entry } = model!;
    expect(entry.supports).toEqual(['speed', 'instructions']);
    const speakBy = async (manner: object) => {
      const call = { text: 'x'.repeat(20), model: engineId, format: 'wav' as const, ...manner };
      const { audio } = await engine.synthesize(call, { signal: new AbortController().signal });
      return samplesOf(await buffer(audio));
    };
    const usual = await speakBy({});
    expect((await speakBy({ speed: 2 })).length).toBe(usual.length / 2);
    expect((await speakBy({ speed: 0.25 })).length).toBe(usual.length * 4);
    expect(await speakBy({ instructions: 'Higher!' })).not.toEqual(usual);
  });

  it.each([
    ['mp3', 'audio/mpeg', /^(ID3|\xff[\xe0-\xff])/],
    ['wav', 'audio/wav', /^RIFF....WAVE/s],
    ['ogg', 'audio/ogg', /^OggS/],
    ['pcm', 'audio/pcm', /^.[\0\xff]/s],
  ])('speaks %s', async (format, type, begins) => {
    const { sound, ...answer } = await speak({ text: 'Good morning.', format });
    expect(answer.type).toBe(type);
    expect(sound.toString('latin1', 0, 12)).toMatch(begins);
  });

  it('refuses voices and models that it does not have', async () => {
    const ask = async (request: object) => (await sandbox.api.post('/api/v1/tts', { text: 'x', ...request })).problem;
    expect((await ask({ voice_id: 'it' })).code).toBe('voice-not-supported');
    expect((await ask({ model: 'espeak' })).code).toBe('unknown-model');
  });

  it('makes the sound while it is read: the slow model thinks about each word', async () => {
    const response = await sandbox.service.post('/tts', { text: 'a '.repeat(1000), model: 'sandbox-speech-slow' });
    const reader = response.body!.getReader();
    const { value } = (await reader.read()) as { value?: Uint8Array };
    expect(value?.length).toBeGreaterThan(0);
    await reader.cancel();
    await expect.poll(() => sandbox.service.log.some(({ status }) => status === 499)).toBe(true);
  });
});

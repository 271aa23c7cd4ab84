/** Voices that a provider rejects, and streams that break. test/engines/providers has the table of failures. */
import { describe, expect, test } from 'vitest';
import { openaiError } from '../providers/support.ts';
import { begins, mp3, readerOf, startTts, type Tts } from './support.ts';

describe('a voice that the provider rejects', () => {
  const refuses = openaiError(400, { param: 'voice' });

  test('is provider-misconfigured if it comes from the settings', async () => {
    const { speak } = await startTts(refuses, { models: '[{ id: remote, defaultVoice: x }]' });
    expect((await speak()).problem.code).toBe('provider-misconfigured');
  });

  test('is voice-not-supported if no voice was chosen', async () => {
    const { speak } = await startTts(refuses);
    const { problem } = await speak();
    expect(problem).toMatchObject({ status: 422, code: 'voice-not-supported' });
    expect(problem.detail).toContain('requires a voice');
  });
});

describe('an audio stream', () => {
  /** Reads the first bytes, calls `then`, and expects the transfer to break. */
  async function listen(tts: Tts, then: () => unknown) {
    const response = await tts.service.post('/tts', { text: 'Good morning.' });
    expect(response.status).toBe(200);
    const reader = readerOf(response);
    expect((await reader.read()).value?.length).toBe(mp3.length);
    then();
    await expect(reader.read()).rejects.toThrow();
  }

  test('that ends early is not a complete response', async () => {
    const tts = await startTts(begins(mp3));
    await listen(tts, () => tts.provider.calls[0]!.socket.end());
    await expect.poll(() => JSON.stringify(tts.service.log)).toContain('provider-bad-response');
  });

  test('that is reset is not a complete response', async () => {
    const tts = await startTts(begins(mp3));
    await listen(tts, () => tts.provider.calls[0]!.socket.resetAndDestroy());
    await expect.poll(() => JSON.stringify(tts.service.log)).toContain('provider-bad-response');
  });
});

/** Speech that pauses: what is allowed between two pieces, and that the first bytes' limit does not count then. */
import { describe, expect, test } from 'vitest';
import { begins, chunk, mp3, readerOf, startTts, type Tts } from './support.ts';

describe('speech that has begun', () => {
  /** Reads the first bytes, calls `then`, and expects the transfer to break. */
  async function listen(tts: Tts, then: () => unknown) {
    const response = await tts.service.post('/tts', { text: 'Good morning.' });
    expect(response.status).toBe(200);
    const reader = readerOf(response);
    expect((await reader.read()).value?.length).toBe(mp3.length);
    then();
    await expect(reader.read()).rejects.toThrow();
  }

  test('and pauses too long ends, with its call', async () => {
    const tts = await startTts(begins(mp3), { engine: 'idleTimeout: 1' }); // the first bytes must get through meanwhile
    await listen(tts, () => undefined);
    await tts.provider.calls[0]!.gone;
    await expect.poll(() => JSON.stringify(tts.service.log)).toContain('provider-timeout');
  });

  test('and pauses a little continues', async () => {
    const tts = await startTts(begins(mp3), { engine: 'timeout: 1, idleTimeout: 10' });
    const reader = readerOf(await tts.service.post('/tts', { text: 'Good morning.' }));
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // longer than the first bytes may take
    tts.provider.calls[0]!.socket.write(Buffer.concat([chunk(mp3), chunk(Buffer.alloc(0))]));
    expect((await reader.read()).value?.length).toBe(mp3.length);
    expect((await reader.read()).done).toBe(true);
  });
});

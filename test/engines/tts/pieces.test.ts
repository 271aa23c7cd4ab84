/** A text that exceeds the provider's limit is requested in pieces and returned as one stream. */
import { describe, expect, test } from 'vitest';
import { answers, type Behavior } from '../../support/provider.ts';
import { begins, bodyOf, chunk, mp3, mp3Frame, pcm, readerOf, speaks, startTts, trailingTags, wav } from './support.ts';
import { wavSamples } from '../../support/wav-samples.ts';

const sentences = ['First comes one sentence that is long.', 'Then a second one.', 'Then a third, and that is it.'];
const text = sentences.join(' ');
const models = (formats: string) => `[{ id: remote, maxCharacters: 50, formats: [${formats}] }]`;
/** The second and the third sentence fit into one piece. */
const pieces = [sentences[0]!, `${sentences[1]!} ${sentences[2]!}`];

describe('a long text', () => {
  test('is sent in pieces that end with a sentence, in order', async () => {
    const { speak, provider } = await startTts(undefined, { models: models('pcm, mp3') });
    provider.behave(speaks(pcm(0.5), 'audio/pcm'), speaks(pcm(0.25, { amplitude: 99 }), 'audio/pcm'));
    const { bytes } = await speak({ text, format: 'wav' });
    const asked = await Promise.all(provider.calls.map(bodyOf));
    expect(asked.map(({ input }) => input)).toEqual(pieces);
    expect(asked.map(({ response_format }) => response_format)).toEqual(['pcm', 'pcm']);
    expect(wavSamples(bytes).equals(Buffer.concat([pcm(0.5), pcm(0.25, { amplitude: 99 })]))).toBe(true);
  });

  test('is prefetched by one piece, and not more', async () => {
    const longer = Array.from({ length: 4 }, () => sentences[0]!).join(' ');
    const { service, provider } = await startTts(begins(mp3), { models: models('mp3') });
    const reader = readerOf(await service.post('/tts', { text: longer }));
    await expect.poll(() => provider.calls.length).toBe(2);
    expect((await reader.read()).value?.length).toBe(mp3.length);
    // The first piece is still being streamed: the third is not requested, however long it takes.
    expect(provider.calls).toHaveLength(2);
    provider.calls[0]!.socket.write(chunk(Buffer.alloc(0)));
    expect((await reader.read()).value?.length).toBe(mp3.length);
    await expect.poll(() => provider.calls.length).toBe(3);
    await reader.cancel();
    await Promise.all([provider.calls[1]!.gone, provider.calls[2]!.gone]);
  });

  test('keeps its order when the second piece arrives before the first has ended', async () => {
    const { service, provider } = await startTts(undefined, { models: models('pcm') });
    provider.behave(begins(pcm(0.5), 'audio/pcm'), speaks(pcm(0.25, { amplitude: 99 }), 'audio/pcm'));
    const spoken = service.post('/tts', { text, format: 'wav' }).then((response) => response.arrayBuffer());
    await expect.poll(() => provider.calls.length).toBe(2);
    await provider.calls[1]!.body;
    provider.calls[0]!.socket.write(Buffer.concat([chunk(pcm(0.5)), chunk(Buffer.alloc(0))]));
    const whole = Buffer.concat([pcm(0.5), pcm(0.5), pcm(0.25, { amplitude: 99 })]);
    expect(wavSamples(Buffer.from(await spoken)).equals(whole)).toBe(true);
  });

  test('in wav pieces is reassembled across chunks, including odd byte counts', async () => {
    const tail = Buffer.from('LIST\x04\0\0\0junk', 'latin1');
    const split: Behavior = async ({ body, socket }) => {
      await body;
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nTransfer-Encoding: chunked\r\n\r\n');
      const bytes = Buffer.concat([wav(pcm(0.5)), tail]);
      for (let at = 0; at < bytes.length; at += 4097) socket.write(chunk(bytes.subarray(at, at + 4097)));
      socket.write(chunk(Buffer.alloc(0)));
    };
    const { speak } = await startTts(split, { models: models('wav') });
    const { bytes } = await speak({ text, format: 'wav' });
    expect(wavSamples(bytes).equals(Buffer.concat([pcm(0.5), pcm(0.5)]))).toBe(true);
  });

  test('in mp3 pieces loses the metadata of the single pieces', async () => {
    const info = Buffer.from(mp3Frame);
    info.write('Info', 36, 'latin1');
    const tag = Buffer.from('ID3\x04\0\0\0\0\x01\x00', 'latin1');
    const piece = Buffer.concat([tag, Buffer.alloc(128, 'x'), info, mp3]);
    const { speak } = await startTts(speaks(piece), { models: models('mp3') });
    expect((await speak({ text })).bytes.equals(Buffer.concat([mp3, mp3]))).toBe(true);
  });

  test('in mp3 pieces loses the tags after each piece; a single piece is unchanged', async () => {
    const piece = Buffer.concat([mp3, trailingTags['APEv2 and ID3v1']!]);
    const { speak } = await startTts(speaks(piece), { models: models('mp3') });
    expect((await speak({ text })).bytes.equals(Buffer.concat([mp3, mp3]))).toBe(true);
    expect((await speak({ text: sentences[0]! })).bytes.equals(piece)).toBe(true);
  });

  test('fails when a later piece fails: the audio does not end as if it were complete', async () => {
    const { service, provider } = await startTts(undefined, { models: models('mp3') });
    provider.behave(begins(mp3), answers(500, 'kaput'));
    const { body, status } = await service.post('/tts', { text });
    expect(status).toBe(200);
    await expect.poll(() => provider.calls.length).toBe(2);
    await provider.calls[1]!.body;
    provider.calls[0]!.socket.write(chunk(Buffer.alloc(0)));
    await expect(new Response(body).arrayBuffer()).rejects.toThrow();
    await expect.poll(() => JSON.stringify(service.log)).toContain('provider-error');
  });

  test('fails when its pieces differ in their sample rate', async () => {
    const { speak, provider, service } = await startTts(undefined, { models: models('wav') });
    provider.behave(speaks(wav(pcm(0.5)), 'audio/wav'), speaks(wav(pcm(0.5), { rate: 16_000 }), 'audio/wav'));
    // A wav is complete before it is sent, so the failure keeps its status.
    expect((await speak({ text, format: 'wav' })).problem.code).toBe('provider-bad-response');
    expect(JSON.stringify(service.log)).toContain('16000 Hz after 24000 Hz');
  });
});

/** Providers that read and answer slowly, and retries of recordings. test/engines/providers has the table of failures. */
import { describe, expect, test } from 'vitest';
import { answers, type Behavior } from '../../support/provider.ts';
import { fineAnswer, recording, startHosted } from './support.ts';

describe('the timeout', () => {
  test('ends an upload that the provider hardly reads', async () => {
    const { transcribe } = await startHosted(answers(200, fineAnswer), {
      engine: 'timeout: 1',
      readsPerSecond: 50_000,
    });
    const long = Buffer.concat([recording, Buffer.alloc(12_000_000)]);
    expect((await transcribe({}, long)).problem.code).toBe('provider-timeout');
  });

  test('does not end a provider that reads and answers slowly within it', async () => {
    const slowly: Behavior = async ({ body, socket }) => {
      await body;
      const text = JSON.stringify(fineAnswer);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n`);
      for (const character of text) {
        socket.write(character);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const { transcribe } = await startHosted(slowly, { readsPerSecond: 400_000 });
    expect((await transcribe()).body).toMatchObject({ text: fineAnswer.text });
  });
});

describe('a retry', () => {
  test('follows 503 that asks for a second', async () => {
    const { transcribe, provider } = await startHosted();
    provider.behave(answers(503, '', { 'retry-after': '1' }), answers(200, fineAnswer));
    expect((await transcribe()).status).toBe(200);
    expect(provider.calls).toHaveLength(2);
  });

  test('follows when the provider has closed an idle connection', async () => {
    const { transcribe, provider } = await startHosted();
    await transcribe();
    for (const socket of provider.open) socket.destroy();
    expect((await transcribe()).status).toBe(200);
  });
});

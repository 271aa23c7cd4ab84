/** The largest valid chat completion works, one character more is refused, and many at once do not sink the service. */
import { describe, expect, it, vi } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of megabytes, however busy the machine is

const path = '/v1/chat/completions';
const json = { 'content-type': 'application/json' };
const emoji = '\u{1F600}';
const limit = 40 * 1024 * 1024;

/** 2,000 messages with a million characters, and tools with the rest of the bytes and most of the structure. */
function largestChat({ extra = 0 } = {}): Buffer {
  const message = `{"role":"user","content":"${String.raw`\ud83d\ude00`.repeat(500)}"}`;
  const last = `{"role":"user","content":"${emoji.repeat(500 + extra)}"}`;
  const examples = `[${Array(90_000).fill('{}').join(',')}]`;
  const head = `{"messages":[${[...Array<string>(1_999).fill(message), last].join(',')}],"tools":[{"type":"function","function":
    {"name":"a","parameters":{"examples":${examples},"description":"`;
  const tail = '"}}}]}';
  const left = limit - Buffer.byteLength(head) - tail.length;
  return Buffer.from(head + 'x'.repeat(left) + tail);
}

describe('a service with a heap of 512 MB', () => {
  it('serves the largest chat, refuses a larger one, and survives ten at once', async () => {
    const service = await startChildService({
      config: 'engines: { sandbox: { use: sandbox } }\n',
      nodeOptions: ['--max-old-space-size=512'],
    });
    const api = createApi(service.url);
    const post = (body: Buffer) => api.send('POST', path, { headers: json, body });
    const largest = largestChat();
    expect(largest).toHaveLength(limit);
    const { status, body } = await post(largest);
    expect(status).toBe(200);
    expect(body).toMatchObject({ choices: [{ message: { content: expect.stringContaining(emoji) as string } }] });

    const { error: tooLong } = await post(largestChat({ extra: 1 }));
    expect(tooLong).toMatchObject({ code: 'invalid_request', param: 'messages' });
    const { status: tooLarge, error } = await post(Buffer.concat([largest, Buffer.from(' ')]));
    expect({ status: tooLarge, code: error.code }).toEqual({ status: 413, code: 'body_too_large' });

    for (let round = 0; round < 2; round += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => post(largest)));
      expect(answers.map((answer) => answer.status)).toContain(200);
      for (const refused of answers.filter((answer) => answer.status !== 200)) {
        expect({ status: refused.status, code: refused.error.code }).toEqual({ status: 503, code: 'overloaded' });
        expect(refused.headers.get('x-should-retry')).toBe('true');
      }
    }
    expect((await api.get('/healthz')).status).toBe(200);
    expect(service.memory().peak).toBeLessThan(600_000_000);
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(service.said.stderr).not.toMatch(/heap|memory/i);
  });
});

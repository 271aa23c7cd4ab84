/** The largest valid chat, and what many of them at once are answered. */
import { expect } from 'vitest';
import type { Api } from '../../support/http.ts';

export const path = '/api/v1/chat';
export const withoutEngines = { config: 'engines: {}\n' };
const emoji = '\u{1F600}';

/** Every field at its limit, every character at four bytes; `extra` more characters in the last message. */
export function largestChat({ extra = 0 } = {}): string {
  const message = { role: 'assistant', content: emoji.repeat(32_000) };
  const last = { ...message, content: message.content + emoji.repeat(extra) };
  const id = emoji.repeat(256);
  return JSON.stringify({
    messages: [...Array.from({ length: 99 }, () => message), last],
    model: id,
    temperature: Number.MIN_VALUE,
    max_tokens: 32_000,
    top_p: Number.MIN_VALUE,
    voice_id: id,
    tts_model: id,
  });
}

export const escaped = (json: string): string => json.replaceAll(emoji, String.raw`\ud83d\ude00`);

export const encodings = [
  { name: 'in UTF-8', encode: (json: string) => Buffer.from(json) },
  { name: String.raw`with every character as \u escapes`, encode: (json: string) => Buffer.from(escaped(json)) },
];

export const json = { 'content-type': 'application/json' };

/** All at once; each is served (there is no engine, which is what it is told) or refused for now. */
export async function tenAtOnce(api: Api, body: Buffer): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, () => api.send('POST', path, { headers: json, body })));
  for (const { status, problem, headers } of answers) {
    expect(status).toBe(503);
    expect(['no-engine', 'overloaded']).toContain(problem.code);
    if (problem.code === 'overloaded') expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  return answers.map(({ problem }) => problem.code);
}

/**
 * Failures of a provider as the caller and the log see them: one of each kind, and all that this engine words itself.
 * test/engines/lib/provider has the whole table.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problems } from '../../../src/contract/problem-table.ts';
import { answers, resets, says, type Behavior } from '../../support/provider.ts';
import { begins, key, mp3, openTts, pcm, readerOf, speaks, startTts, wav, type Tts } from './support.ts';

interface Failure {
  readonly name: string;
  readonly says: Behavior;
  readonly code: keyof typeof problems;
  readonly retryAfter?: string;
  /** 1 unless the call is retried. */
  readonly calls?: number;
  /** Besides the text and the voice. */
  readonly asked?: Readonly<Record<string, unknown>>;
}

const secret = 'internal-host-17.example';
const openai = (status: number, error: object, headers?: Readonly<Record<string, string>>) =>
  answers(status, { error: { message: secret, type: 'x', param: null, code: null, ...error } }, headers);
const audio = (text: string) => speaks(Buffer.from(text));
const head = 'HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n';
const toWav = { format: 'wav' };

const table: readonly Failure[] = [
  // -------------------------------------------------------------------------------------------- quota, rate, keys
  { name: '429', says: openai(429, {}, { 'retry-after': '20' }), code: 'provider-rate-limited', retryAfter: '20' },
  { name: '401', says: openai(401, { message: `Incorrect API key provided: ${key}` }), code: 'provider-auth-failed' },
  // ---------------------------------------------------------------------------------------------- voice and format
  {
    name: '400 about the voice (OpenAI)',
    says: openai(400, { message: "Input should be 'nova', 'shimmer', 'echo'", param: 'voice' }),
    code: 'voice-not-supported',
  },
  {
    name: '400 about the voice (Kokoro)',
    says: answers(400, { detail: { error: 'validation_error', message: "Voice 'x' not found. Available voices: af" } }),
    code: 'voice-not-supported',
  },
  {
    name: '422 about the voice (pydantic)',
    says: answers(422, { detail: [{ loc: ['body', 'voice'], msg: "Input should be 'af'" }] }),
    code: 'voice-not-supported',
  },
  {
    name: '422 about a text that mentions a voice (pydantic)',
    says: answers(422, { detail: [{ loc: ['body', 'input'], msg: 'Too long', input: 'A voice.' }] }),
    code: 'provider-rejected-request',
  },
  {
    name: '400 about the requested format',
    says: openai(400, { param: 'response_format' }),
    code: 'format-not-supported',
  },
  {
    name: '400 about the configured format',
    says: openai(400, { message: '`response_format` must be mp3' }),
    asked: toWav,
    code: 'provider-misconfigured',
  },
  { name: '400 about something else', says: openai(400, { param: 'speed' }), code: 'provider-rejected-request' },
  {
    name: '404 of a model that is called voice',
    says: openai(404, { message: "The model 'grok-voice' does not exist" }),
    code: 'provider-misconfigured',
  },
  // ----------------------------------------------------------------------------------------------------- failures
  { name: '503', says: answers(503, secret), code: 'provider-overloaded', retryAfter: '1', calls: 3 },
  { name: '500', says: openai(500, {}), code: 'provider-error' },
  { name: 'a reset before the answer', says: resets, code: 'provider-unreachable', calls: 3 },
  // ------------------------------------------------------------------------------------------------- invalid audio
  { name: '200 with nothing', says: audio(''), code: 'provider-bad-response' },
  { name: '204', says: says('HTTP/1.1 204 No Content\r\n\r\n'), code: 'provider-bad-response' },
  {
    name: '200 with an error in JSON',
    says: answers(200, { error: { message: secret } }),
    code: 'provider-bad-response',
  },
  { name: '200 with JSON without audio', says: answers(200, { audio_data: null }), code: 'provider-bad-response' },
  {
    name: '200 with truncated JSON',
    says: says('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"audio_data":"aa'),
    code: 'provider-bad-response',
  },
  { name: '200 with base64 that is none', says: answers(200, { audio_data: '<html>' }), code: 'provider-bad-response' },
  {
    name: '200 with base64 that is not mp3',
    says: answers(200, { audio_data: 'aGVsbG8=' }),
    code: 'provider-bad-response',
  },
  { name: '200 with HTML', says: answers(200, `<!doctype html>${secret}`), code: 'provider-bad-response' },
  { name: 'HTML as audio', says: audio(`<!doctype html>${secret}`), code: 'provider-bad-response' },
  {
    name: 'HTML as audio, where samples are expected',
    says: audio(`\n<!doctype html>${secret}`),
    asked: toWav,
    code: 'provider-bad-response',
  },
  {
    name: 'JSON as audio, where samples are expected',
    says: audio(`{ "error": "${secret}" }`),
    asked: toWav,
    code: 'provider-bad-response',
  },
  { name: 'mp3 as opus', says: speaks(mp3), asked: { format: 'opus' }, code: 'provider-bad-response' },
  ...Object.entries({
    mp3: mp3,
    'mp3 with a tag': Buffer.from('ID3\x04'),
    ogg: Buffer.from('OggS'),
    flac: Buffer.from('fLaC'),
  }).map(([kind, begin]) => ({
    name: `${kind}, where audio is expected`,
    says: speaks(Buffer.concat([begin, Buffer.alloc(1000, 1)])),
    asked: toWav,
    code: 'provider-bad-response' as const,
  })),
  { name: 'an empty body, where samples are expected', says: audio(''), asked: toWav, code: 'provider-bad-response' },
  { name: 'a WAV without samples', says: speaks(wav(Buffer.alloc(0))), asked: toWav, code: 'provider-bad-response' },
  {
    name: 'a WAV with a truncated header',
    says: speaks(wav(pcm(0.1)).subarray(0, 30)),
    asked: toWav,
    code: 'provider-bad-response',
  },
  {
    name: 'a WAV at 96 kHz',
    says: speaks(wav(pcm(0.1), { rate: 96_000 })),
    asked: toWav,
    code: 'provider-bad-response',
  },
  {
    name: 'audio that ends before its first bytes',
    says: says(`${head}Content-Length: 50\r\n\r\n`),
    code: 'provider-bad-response',
  },
  {
    name: 'audio that ends early',
    says: says(`${head}Content-Length: 50\r\n\r\n\0\0\0\0`),
    asked: toWav,
    code: 'provider-bad-response',
  },
  {
    name: 'more audio than the text can have',
    says: speaks(Buffer.alloc(20_000_000)),
    asked: toWav,
    code: 'provider-bad-response',
  },
];

describe('a failure', () => {
  let tts: Tts & AsyncDisposable;
  beforeAll(async () => {
    tts = await openTts({ env: { ALLOW_OPEN: 'true' } }); // the client is not the operator
  });
  afterAll(() => tts[Symbol.asyncDispose]());

  test.each(table)('$name is $code', async ({ name, says: behavior, code, retryAfter, calls = 1, asked = {} }) => {
    const before = { calls: tts.provider.calls.length, log: tts.service.log.length };
    tts.provider.behave(behavior);
    const { status, problem, headers, text } = await tts.speak({ voice_id: 'x', ...asked });
    expect({ status, code: problem.code }).toEqual({ status: problems[code].status, code });
    if (name.includes('HTML')) expect(problem.detail).toContain('an HTML page');
    expect(headers.get('retry-after')).toBe(retryAfter ?? null);
    expect(tts.provider.calls.length - before.calls).toBe(calls);
    // The client receives nothing of the provider's text; the log has it, without the key.
    expect(text).not.toMatch(/internal-host|sk-very|Incorrect|shimmer|127\.0\.0\.1/);
    const log = JSON.stringify(tts.service.log.slice(before.log));
    expect(log).toContain(`"code":"${code}"`);
    expect(log).not.toContain(key);
    // The engine still works.
    tts.provider.behave(speaks(mp3));
    expect((await tts.speak()).status).toBe(200);
    await expect.poll(() => tts.service.leftovers(), { interval: 5 }).toEqual([]);
  });
});

describe('a voice that the provider rejects', () => {
  const refuses = openai(400, { param: 'voice' });

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

describe('the timeout', () => {
  test.each<[string, Behavior]>([
    ['nothing is sent', () => undefined],
    ['only the headers are sent', ({ socket }) => socket.write(`${head}Content-Length: 50\r\n\r\n`)],
    [
      'JSON stops half way',
      ({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{'),
    ],
  ])('ends a call when %s', async (_, behavior) => {
    const { speak, provider } = await startTts(behavior, { engine: 'timeout: 1' });
    const { status, problem } = await speak();
    expect({ status, code: problem.code }).toEqual({ status: 504, code: 'provider-timeout' });
    expect(problem.detail).toContain('1 s');
    await expect.poll(() => provider.open.size).toBe(0);
    expect(provider.calls).toHaveLength(1);
  });
});

describe('a retry', () => {
  test.each([
    { name: 'a reset', first: resets },
    { name: '503', first: answers(503, '') },
  ])('after $name sends the whole text again', async ({ first }) => {
    const { speak, provider } = await startTts();
    provider.behave(first, speaks(mp3));
    expect((await speak()).bytes.equals(mp3)).toBe(true);
    expect(provider.calls).toHaveLength(2);
    expect(String(await provider.calls[1]!.body)).toContain('Good morning.');
  });
});

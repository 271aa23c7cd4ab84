/**
 * Failures of a provider as the caller and the log see them, for every engine that has one: some that they share, and
 * all that an engine words itself. test/engines/lib/provider has the whole table.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problems } from '../../../src/contract/problem-table.ts';
import { answers, answersAtOnce, resets, says as sendsRaw, type Behavior } from '../../support/provider.ts';
import { chunk, sends, stallsAfter, streams, streamsOnly } from '../llm-agent/support.ts';
import { mp3, pcm, speaks, wav } from '../tts/support.ts';
import { families, type Family } from './families.ts';
import { key, openaiError, openHosted, secret, startHosted, stops, type Fields, type Hosted } from './support.ts';

interface More {
  readonly retryAfter?: string;
  /** 1 unless the call is retried. */
  readonly calls?: number;
  /** Fields of the request beside those that every request has. */
  readonly asked?: Fields;
}

interface Failure extends More {
  readonly name: string;
  readonly code: keyof typeof problems;
  readonly answer: Behavior;
}

/** Failures with the same code, by name. */
const are = (code: Failure['code'], answersByName: Readonly<Record<string, Behavior>>, more: More = {}) =>
  Object.entries(answersByName).map(([name, answer]): Failure => ({ name, code, answer, ...more }));

const after = (seconds: number) => ({ 'retry-after': String(seconds) });
const raw = (text: string) => sendsRaw(`HTTP/1.1 ${text}`);
const html = `<!doctype html>${secret}`;

const shared: readonly Failure[] = [
  ...are('provider-rate-limited', { 429: openaiError(429, { code: 'rate_limit_exceeded' }) }, { retryAfter: '1' }),
  ...are('provider-rate-limited', { '429 with Retry-After': openaiError(429, {}, after(20)) }, { retryAfter: '20' }),
  ...are('provider-auth-failed', { 401: openaiError(401, { message: `Incorrect API key provided: ${key}` }) }),
  ...are('provider-misconfigured', {
    'a redirect, which is not followed': answers(307, '', { location: 'http://127.0.0.1:9/' }),
  }),
  ...are('provider-overloaded', { 503: answers(503, `no upstream ${secret}`) }, { retryAfter: '1', calls: 3 }),
  ...are(
    'provider-overloaded',
    { '503 with a long Retry-After': answers(503, secret, after(30)) },
    { retryAfter: '30' },
  ),
  ...are('provider-error', { 500: openaiError(500, { message: `kaput ${key}` }) }),
  ...are('provider-unreachable', { 'a reset before the answer': resets }, { calls: 3 }),
  ...are('provider-bad-response', {
    '200 with HTML': answers(200, html),
    '200 with nothing': answers(200, ''),
    204: raw('204 No Content\r\n\r\n'),
  }),
];

const audio = (text: string) => speaks(Buffer.from(text));
const audioHead = '200 OK\r\nContent-Type: audio/mpeg\r\n';
const jsonHead = '200 OK\r\nContent-Type: application/json\r\n';
const hi = chunk({ content: 'Hi.' });
const callChunk = (...calls: readonly object[]) => chunk({ tool_calls: calls });

/** Closes the connection in the middle of a stream. */
const breaksAfter =
  (...events: readonly object[]): Behavior =>
  async (call) => {
    await stallsAfter(...events)(call);
    call.socket.end();
  };

const own: Readonly<Record<Family['use'], readonly Failure[]>> = {
  'hosted-stt': [
    ...are(
      'provider-quota-exhausted',
      { '429 insufficient_quota': openaiError(429, { code: 'insufficient_quota' }, after(3600)) },
      { retryAfter: '3600' },
    ),
    ...are('recording-undecodable', {
      '400 Invalid file format (OpenAI)': openaiError(400, {
        message: "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'ogg', 'wav', 'webm']",
        type: 'invalid_request_error',
      }),
      '400 corrupted (OpenAI)': openaiError(400, {
        ...{ message: 'Audio file might be corrupted or unsupported', param: 'file', code: 'invalid_value' },
      }),
      '400 could not process file (Groq)': openaiError(400, {
        message: 'could not process file - is it a valid media file?',
      }),
      '400 unrecognised file': openaiError(400, { message: 'Unrecognised file format' }),
      415: answers(415, 'Unsupported Media Type'),
      '422 failed to decode (speaches)': answers(422, {
        detail: 'Failed to decode audio. The provided file is not a valid audio file.',
      }),
    }),
    ...are('recording-empty', {
      '400 too short (OpenAI)': openaiError(400, {
        ...{ message: 'Audio file is too short. Minimum audio length is 0.1 seconds.', code: 'audio_too_short' },
      }),
      '400 file is empty (Groq)': openaiError(400, { message: 'file is empty' }),
    }),
    ...are('recording-too-large', {
      '413 (OpenAI)': openaiError(413, {
        message: '413: Maximum content size limit (26214400) exceeded (26222149 bytes read)',
      }),
      '413 of a proxy, at once': answersAtOnce(413, '<html>413</html>'),
      '400 Maximum file size exceeded (vLLM)': answers(400, { message: 'Maximum file size exceeded', code: 400 }),
    }),
    ...are('recording-too-long', {
      '400 longer than the model accepts (OpenAI)': openaiError(400, {
        message: 'audio duration 1500.5 seconds is longer than 1400 seconds which is the maximum for this model',
      }),
    }),
    ...are('language-not-supported', {
      '400 invalid language (OpenAI)': openaiError(400, {
        message: "Invalid language 'sv'. Language parameter must be in ISO-639-1.",
        ...{ param: 'language', code: 'invalid_language_format' },
      }),
      '400 unsupported language (vLLM)': answers(400, { message: "Unsupported language: 'sv'. Must be one of ['en']" }),
      '422 language (pydantic)': answers(422, { detail: [{ loc: ['body', 'language'], msg: "Input should be 'af'" }] }),
    }),
    ...are('provider-rejected-request', {
      400: openaiError(400, { message: 'temperature must be positive' }),
      '400 whose type only sounds like an invalid file': openaiError(400, {
        ...{ message: 'no', type: 'invalid_file_request', param: 'temperature' },
      }),
    }),
    ...are('provider-error', {
      '502 of another Parlance': answers(502, { code: 'provider-error' }),
      '200 with an error inside': answers(200, { error: { message: secret } }),
    }),
    ...are('provider-error', { '502 of a proxy': answers(502, '<html>502</html>') }, { calls: 3 }),
    ...are('provider-bad-response', {
      '200 with null': answers(200, 'null'),
      '200 with a list': answers(200, '[{"text":"x"}]'),
      '200 without text': answers(200, { segments: [] }),
      '200 with a text that is null': answers(200, { text: null }),
      '200 with truncated JSON': answers(200, '{"text":"al'),
      '200 whose body ends early': raw('200 OK\r\nContent-Length: 500\r\n\r\n{"text":"alpha'),
      '200 whose chunks end early': raw('200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"te\r\n'),
    }),
  ],
  tts: [
    ...are('voice-not-supported', {
      '400 about the voice (OpenAI)': openaiError(400, {
        ...{ message: "Input should be 'nova', 'shimmer', 'echo'", param: 'voice' },
      }),
      '400 about the voice (Kokoro)': answers(400, {
        detail: { error: 'validation_error', message: "Voice 'x' not found. Available voices: af" },
      }),
      '422 about the voice (pydantic)': answers(422, {
        detail: [{ loc: ['body', 'voice'], msg: "Input should be 'af'" }],
      }),
    }),
    ...are('provider-rejected-request', {
      '422 about a text that mentions a voice (pydantic)': answers(422, {
        detail: [{ loc: ['body', 'input'], msg: 'Too long', input: 'A voice.' }],
      }),
      '400 about something else': openaiError(400, { param: 'speed' }),
    }),
    ...are('format-not-supported', { '400 about the format': openaiError(400, { param: 'response_format' }) }),
    ...are('provider-misconfigured', {
      '404 of a model that is called voice': openaiError(404, { message: "The model 'grok-voice' does not exist" }),
    }),
    ...are('provider-bad-response', {
      '200 with empty audio': audio(''),
      '200 with an error in JSON': answers(200, { error: { message: secret } }),
      '200 with JSON without audio': answers(200, { audio_data: null }),
      '200 with truncated JSON': raw(`${jsonHead}Content-Length: 99\r\n\r\n{"audio_data":"aa`),
      '200 with invalid base64': answers(200, { audio_data: '<html>' }),
      '200 with base64 that is not mp3': answers(200, { audio_data: 'aGVsbG8=' }),
      'HTML as audio': audio(html),
      'audio that ends before its first bytes': raw(`${audioHead}Content-Length: 50\r\n\r\n`),
    }),
    ...are('provider-bad-response', { 'mp3 as opus': speaks(mp3) }, { asked: { format: 'opus' } }),
    // Where samples are expected.
    ...are(
      'provider-misconfigured',
      { '400 about the configured format': openaiError(400, { message: '`response_format` must be mp3' }) },
      { asked: { format: 'wav' } },
    ),
    ...are(
      'provider-bad-response',
      {
        'HTML as samples': audio(`\n${html}`),
        'JSON as samples': audio(`{ "error": "${secret}" }`),
        'mp3 as samples': speaks(Buffer.concat([mp3, Buffer.alloc(1000, 1)])),
        'mp3 with a tag as samples': audio(`ID3\x04${'\x01'.repeat(1000)}`),
        'ogg as samples': audio(`OggS${'\x01'.repeat(1000)}`),
        'flac as samples': audio(`fLaC${'\x01'.repeat(1000)}`),
        'no samples': audio(''),
        'a WAV without samples': speaks(wav(Buffer.alloc(0))),
        'a WAV with a truncated header': speaks(wav(pcm(0.1)).subarray(0, 30)),
        'a WAV at 96 kHz': speaks(wav(pcm(0.1), { rate: 96_000 })),
        'audio that ends early': raw(`${audioHead}Content-Length: 50\r\n\r\n\0\0\0\0`),
        'more audio than the text can have': speaks(Buffer.alloc(20_000_000)),
      },
      { asked: { format: 'wav' } },
    ),
  ],
  'llm-agent': [
    ...are('context-length-exceeded', {
      '400 context_length_exceeded (OpenAI)': openaiError(400, {
        ...{ code: 'context_length_exceeded', message: "This model's maximum context length is 8192 tokens." },
      }),
    }),
    ...are('provider-rejected-request', {
      '400 parameter refused': openaiError(400, {
        ...{ code: 'unsupported_value', param: 'temperature', message: `temperature ${secret}` },
      }),
    }),
    ...are('provider-error', {
      '200 with an error': answers(200, { error: { message: secret } }),
      '200 with an error that is a string': answers(200, { error: `${secret} ${key}` }),
      'an error as the first event': streamsOnly({ error: { message: `${secret} ${key}`, code: 500 } }),
      'an error inside the stream': streams(hi, { error: { message: secret, code: 'server_error' } }),
      'an error beside a chunk (OpenRouter)': streams(
        hi,
        chunk({ content: '' }, 'error', { error: { code: 'server_error', message: secret } }),
      ),
      'an event named error': streamsOnly(hi, `event: error\ndata: {"message":"${secret}"}\n\n`),
      'finish_reason error': streams(hi, chunk({}, 'error')),
    }),
    ...are(
      'provider-overloaded',
      { 'finish_reason insufficient_system_resource': streams(hi, chunk({}, 'insufficient_system_resource')) },
      { retryAfter: '1' },
    ),
    ...are('provider-bad-response', {
      'no finish_reason': streams(hi),
      'only [DONE]': streams(),
      'calls without an end': streamsOnly(
        callChunk({ index: 0, id: 'a', function: { name: 'weather', arguments: '{}' } }),
      ),
      'an announced tool call that does not come': streams(chunk({}, 'tool_calls')),
      'half an event': sends(`data: ${JSON.stringify(chunk({}, 'stop')).slice(0, -1)}`),
      'bad JSON': streams(hi, `data: {"choices":[${secret}\n\n`),
      'JSON that is not an object': streams('data: [1]\n\n', chunk({}, 'stop')),
      'the end in mid-stream': breaksAfter(hi),
      'arguments that never end': streams(
        ...Array.from({ length: 30 }, () => callChunk({ index: 0, function: { arguments: 'x'.repeat(50_000) } })),
      ),
      'too many calls': streams(
        callChunk(...Array.from({ length: 200 }, (_, index) => ({ index, function: { name: 'x' } }))),
        chunk({}, 'stop'),
      ),
      '200 without choices': answers(200, { id: 'x' }),
      '200 with no choice': answers(200, { choices: [] }),
      '200 with truncated JSON': answers(200, `{"choices":[{"${secret}`),
      '200 in gzip, which was not asked for': answers(200, '\x1f\x8b\b', { 'content-encoding': 'gzip' }),
    }),
  ],
};

/** Fields of every request that fails here. */
const asks: Readonly<Record<Family['use'], Fields>> = {
  'hosted-stt': { language: 'sv' },
  tts: { voice_id: 'x' },
  'llm-agent': {},
};

describe.each(families)('a failure of the provider of $use', ({ use, fine, ask }) => {
  let hosted: Hosted & AsyncDisposable;
  beforeAll(async () => {
    hosted = await openHosted(use, { env: { ALLOW_OPEN: 'true' } }); // the client is not the operator
  });
  afterAll(() => hosted[Symbol.asyncDispose]());

  test.each([...shared, ...own[use]])('$name is $code', async ({ name, code, answer, ...more }) => {
    const { service, provider } = hosted;
    const { retryAfter = null, calls = 1, asked = {} } = more;
    const before = { calls: provider.calls.length, log: service.log.length };
    provider.behave(answer);
    const { status, problem, headers, text } = await ask(service, { ...asks[use], ...asked });
    expect({ status, code: problem.code }).toEqual({ status: problems[code].status, code });
    if (name.includes('HTML')) expect(problem.detail).toContain('an HTML page');
    expect(headers.get('retry-after')).toBe(retryAfter);
    expect(provider.calls.length - before.calls).toBe(calls);
    // The client receives nothing of the provider's text; the log has it, without the key.
    expect(text).not.toMatch(/internal-host|sk-very|Incorrect|corrupted|maximum context|shimmer|127\.0\.0\.1/);
    const log = JSON.stringify(service.log.slice(before.log));
    expect(log).toContain(`"code":"${code}"`);
    expect(log).not.toContain(key);
    // The engine still works.
    provider.behave(fine);
    expect((await ask(service)).status).toBe(200);
    await expect.poll(() => service.leftovers(), { interval: 5 }).toEqual([]);
  });

  test('is logged with the text of the provider', async () => {
    hosted.provider.behave(answers(500, `kaput on ${secret}`));
    await ask(hosted.service);
    const line = hosted.service.log.findLast(({ msg }) => msg === 'a request failed');
    expect(JSON.stringify(line)).toContain(`cloud answered 500: kaput on ${secret}`);
  });

  test('with an endless body is reported as well', async () => {
    hosted.provider.behave(async ({ body, socket }) => {
      await body;
      socket.write('HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n');
      const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const more = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', more);
      more();
    });
    expect((await ask(hosted.service)).problem.code).toBe('provider-error');
    await expect.poll(() => hosted.provider.open.size).toBe(0);
  });
});

describe.each(families)('with $use', ({ use, fine, sent, ask }) => {
  test.each([
    ['a reset', resets],
    ['503', answers(503, '')],
  ])('a retry after %s sends the whole request again', async (_what, first) => {
    const { service, provider } = await startHosted(use, fine);
    provider.behave(first, fine);
    expect((await ask(service)).status).toBe(200);
    expect(provider.calls).toHaveLength(2);
    expect((await provider.calls[1]!.body).toString('latin1')).toContain(sent);
  });
});

// The timeouts of llm-agent are in test/engines/llm-agent/timeouts.
describe.each(families.filter(({ use }) => use !== 'llm-agent'))('the timeout of $use', ({ use, ask }) => {
  test.each<[string, Behavior]>([
    ['nothing is sent', () => undefined],
    ['only the headers are sent', stops(200, '', 'audio/mpeg')],
    ['JSON stops half way', stops(200, '{"text":')],
  ])('ends a call when %s', async (_what, behavior) => {
    const { service, provider } = await startHosted(use, behavior, { engine: 'timeout: 1' });
    const { status, problem } = await ask(service);
    expect({ status, code: problem.code }).toEqual({ status: 504, code: 'provider-timeout' });
    expect(problem.detail).toContain('1 s');
    await expect.poll(() => provider.open.size).toBe(0);
    expect(provider.calls).toHaveLength(1);
  });
});

/**
 * Failures of a provider as the caller and the log see them: one of each kind, and all that this engine words itself.
 * test/engines/lib/provider has the whole table.
 */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { problems } from '../../../src/contract/problem-table.ts';
import { answers, answersAtOnce, resets, says, type Behavior } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { callsOf, fineAnswer, key, openHosted, recording, startHosted, type Hosted } from './support.ts';

interface Failure {
  readonly name: string;
  readonly says: Behavior;
  readonly code: keyof typeof problems;
  readonly retryAfter?: string;
  /** 1 unless the call is retried. */
  readonly calls?: number;
}

const secret = 'internal-host-17.example';
const openai = (status: number, error: object, headers?: Readonly<Record<string, string>>) =>
  answers(status, { error: { message: secret, type: 'x', param: null, code: null, ...error } }, headers);

const table: readonly Failure[] = [
  // -------------------------------------------------------------------------------------------- quota and rate
  {
    name: '429 insufficient_quota with Retry-After',
    says: openai(429, { code: 'insufficient_quota' }, { 'retry-after': '3600' }),
    code: 'provider-quota-exhausted',
    retryAfter: '3600',
  },
  { name: '429', says: openai(429, { code: 'rate_limit_exceeded' }), code: 'provider-rate-limited', retryAfter: '1' },
  // ------------------------------------------------------------------------------------------------------- keys
  { name: '401', says: openai(401, { message: `Incorrect API key provided: ${key}` }), code: 'provider-auth-failed' },
  // -------------------------------------------------------------------------------------------------- recordings
  {
    name: '400 Invalid file format (OpenAI)',
    says: openai(400, {
      message:
        "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']",
      type: 'invalid_request_error',
    }),
    code: 'recording-undecodable',
  },
  {
    name: '400 corrupted (OpenAI)',
    says: openai(400, {
      message: 'Audio file might be corrupted or unsupported',
      param: 'file',
      code: 'invalid_value',
    }),
    code: 'recording-undecodable',
  },
  {
    name: '400 could not process file (Groq)',
    says: openai(400, { message: 'could not process file - is it a valid media file?' }),
    code: 'recording-undecodable',
  },
  { name: '415', says: answers(415, 'Unsupported Media Type'), code: 'recording-undecodable' },
  {
    name: '422 failed to decode (speaches)',
    says: answers(422, { detail: 'Failed to decode audio. The provided file is not a valid audio file.' }),
    code: 'recording-undecodable',
  },
  {
    name: '400 too short (OpenAI)',
    says: openai(400, {
      message: 'Audio file is too short. Minimum audio length is 0.1 seconds.',
      code: 'audio_too_short',
    }),
    code: 'recording-empty',
  },
  { name: '400 file is empty (Groq)', says: openai(400, { message: 'file is empty' }), code: 'recording-empty' },
  {
    name: '413 (OpenAI)',
    says: openai(413, { message: '413: Maximum content size limit (26214400) exceeded (26222149 bytes read)' }),
    code: 'recording-too-large',
  },
  { name: '413 of a proxy, at once', says: answersAtOnce(413, '<html>413</html>'), code: 'recording-too-large' },
  {
    name: '400 Maximum file size exceeded (vLLM)',
    says: answers(400, { message: 'Maximum file size exceeded', type: 'BadRequestError', param: null, code: 400 }),
    code: 'recording-too-large',
  },
  {
    name: '400 longer than the model accepts (OpenAI)',
    says: openai(400, {
      message: 'audio duration 1500.5 seconds is longer than 1400 seconds which is the maximum for this model',
    }),
    code: 'recording-too-long',
  },
  // -------------------------------------------------------------------------------------------------- languages
  {
    name: '400 invalid language (OpenAI)',
    says: openai(400, {
      message: "Invalid language 'sv'. Language parameter must be in ISO-639-1.",
      param: 'language',
      code: 'invalid_language_format',
    }),
    code: 'language-not-supported',
  },
  {
    name: '400 unsupported language (vLLM)',
    says: answers(400, { message: "Unsupported language: 'sv'. Must be one of ['en', 'zh']", code: 400 }),
    code: 'language-not-supported',
  },
  {
    name: '422 language (pydantic)',
    says: answers(422, { detail: [{ loc: ['body', 'language'], msg: "Input should be 'af', 'am'" }] }),
    code: 'language-not-supported',
  },
  // ---------------------------------------------------------------------------------------------- other refusals
  { name: '400', says: openai(400, { message: 'temperature must be positive' }), code: 'provider-rejected-request' },
  {
    name: '400 whose type only sounds like an invalid file',
    says: openai(400, { message: 'no', type: 'invalid_file_request', param: 'temperature' }),
    code: 'provider-rejected-request',
  },
  {
    name: 'a redirect, which is not followed',
    says: answers(307, '', { location: 'http://127.0.0.1:9/v1/audio/transcriptions' }),
    code: 'provider-misconfigured',
  },
  // ---------------------------------------------------------------------------------------------------- failures
  { name: '503', says: answers(503, `no upstream ${secret}`), code: 'provider-overloaded', retryAfter: '1', calls: 3 },
  {
    name: '503 with a long Retry-After',
    says: answers(503, secret, { 'retry-after': '30' }),
    code: 'provider-overloaded',
    retryAfter: '30',
  },
  { name: '500', says: openai(500, {}), code: 'provider-error' },
  { name: '502 of another Parlance', says: answers(502, { code: 'provider-error' }), code: 'provider-error' },
  { name: '502 of a proxy', says: answers(502, '<html>502</html>'), code: 'provider-error', calls: 3 },
  { name: '200 with an error inside', says: answers(200, { error: { message: secret } }), code: 'provider-error' },
  // ----------------------------------------------------------------------------------------------------- nonsense
  { name: '200 with HTML', says: answers(200, `<!doctype html>${secret}`), code: 'provider-bad-response' },
  { name: '200 with nothing', says: answers(200, ''), code: 'provider-bad-response' },
  { name: '204', says: says('HTTP/1.1 204 No Content\r\n\r\n'), code: 'provider-bad-response' },
  { name: '200 with null', says: answers(200, 'null'), code: 'provider-bad-response' },
  { name: '200 with a list', says: answers(200, '[{"text":"x"}]'), code: 'provider-bad-response' },
  { name: '200 without text', says: answers(200, { segments: [] }), code: 'provider-bad-response' },
  { name: '200 with a text that is none', says: answers(200, { text: null }), code: 'provider-bad-response' },
  { name: '200 cut in its JSON', says: answers(200, '{"text":"al'), code: 'provider-bad-response' },
  {
    name: '200 whose body ends early',
    says: says('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"text":"alpha'),
    code: 'provider-bad-response',
  },
  {
    name: '200 whose chunks end early',
    says: says('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"te\r\n'),
    code: 'provider-bad-response',
  },
  // ---------------------------------------------------------------------------------------------- the connection
  { name: 'a reset before the answer', says: resets, code: 'provider-unreachable', calls: 3 },
];

describe('a failure', () => {
  let hosted: Hosted & AsyncDisposable;
  beforeAll(async () => {
    hosted = await openHosted({ env: { ALLOW_OPEN: 'true' } }); // the client is not the operator
  });
  afterAll(() => hosted[Symbol.asyncDispose]());

  test.each(table)('$name is $code', async ({ name, says: behavior, code, retryAfter, calls = 1 }) => {
    const before = { calls: hosted.provider.calls.length, log: hosted.service.log.length };
    hosted.provider.behave(behavior);
    const { status, problem, headers, text } = await hosted.transcribe({ language: 'sv' });
    expect({ status, code: problem.code }).toEqual({ status: problems[code].status, code });
    if (name.includes('HTML')) expect(problem.detail).toContain('an HTML page');
    expect(headers.get('retry-after')).toBe(retryAfter ?? null);
    expect(hosted.provider.calls.length - before.calls).toBe(calls);
    // The client receives nothing of the provider's text; the log has it, without the key.
    expect(text).not.toMatch(/internal-host|sk-very|Incorrect|corrupted|127\.0\.0\.1/);
    const log = JSON.stringify(hosted.service.log.slice(before.log));
    expect(log).toContain(`"code":"${code}"`);
    expect(log).not.toContain(key);
    // The engine still works.
    hosted.provider.behave(answers(200, fineAnswer));
    expect((await hosted.transcribe()).status).toBe(200);
    await expect.poll(() => hosted.service.leftovers(), { interval: 5 }).toEqual([]);
  });

  test('is logged with the text of the provider', async () => {
    hosted.provider.behave(answers(500, `kaput on ${secret}`), answers(200, fineAnswer));
    await hosted.transcribe();
    const line = hosted.service.log.findLast(({ msg }) => msg === 'a request failed');
    expect(JSON.stringify(line)).toContain(`cloud answered 500: kaput on ${secret}`);
  });

  test('with an endless body is reported as well', async () => {
    hosted.provider.behave(async ({ body, socket }) => {
      await body;
      socket.write('HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', more);
      more();
    });
    expect((await hosted.transcribe()).problem.code).toBe('provider-error');
    await expect.poll(() => hosted.provider.open.size).toBe(0);
  });
});

describe('a provider is unreachable', () => {
  const service = async (baseUrl: string) => {
    const config = `engines: { cloud: { use: hosted-stt, baseUrl: "${baseUrl}", models: [remote] } }`;
    const started = await startTestService({ config });
    onTestFinished(() => started[Symbol.asyncDispose]());
    return callsOf(started);
  };

  test('when nothing listens on the port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { transcribe } = await service(`http://127.0.0.1:${port}/v1`);
    expect((await transcribe()).problem.code).toBe('provider-unreachable');
  });
});

describe('the timeout', () => {
  test('ends a call without a response', async () => {
    const { transcribe, provider } = await startHosted(() => undefined, { engine: 'timeout: 1' });
    const { status, problem } = await transcribe();
    expect({ status, code: problem.code }).toEqual({ status: 504, code: 'provider-timeout' });
    expect(problem.detail).toContain('1 s');
    await expect.poll(() => provider.open.size).toBe(0);
    expect(provider.calls).toHaveLength(1);
  });

  test('ends a response that stalls', async () => {
    const half: Behavior = ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"text":');
    const { transcribe, provider } = await startHosted(half, { engine: 'timeout: 1' });
    expect((await transcribe()).problem.code).toBe('provider-timeout');
    await expect.poll(() => provider.open.size).toBe(0);
  });

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
  test.each([
    { name: 'a reset', first: resets },
    { name: '503', first: answers(503, '') },
    { name: '503 that asks for a second', first: answers(503, '', { 'retry-after': '1' }) },
    { name: '502 of a proxy', first: answers(502, '<html><body><h1>502 Bad Gateway</h1>') },
    { name: '504 of a proxy', first: answers(504, '<html><body><h1>504 Gateway Time-out</h1>') },
  ])('after $name sends the whole recording again', async ({ first }) => {
    const { transcribe, provider } = await startHosted();
    provider.behave(first, answers(200, fineAnswer));
    expect((await transcribe()).status).toBe(200);
    expect(provider.calls).toHaveLength(2);
    const again = (await provider.calls[1]!.body).toString('latin1');
    expect(again).toContain(recording.toString('latin1'));
  });

  test('follows when the provider has closed an idle connection', async () => {
    const { transcribe, provider } = await startHosted();
    await transcribe();
    for (const socket of provider.open) socket.destroy();
    expect((await transcribe()).status).toBe(200);
  });
});

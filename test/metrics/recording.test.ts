/** What requests and engines leave in the metrics, and in the log line of their request. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../lib/wav.ts';
import { eventually } from '../api/support/eventually.ts';
import { multipart, multipartType } from '../api/support/forms.ts';
import { connectRaw } from '../api/support/raw-socket.ts';
import { nameOfToken } from '../../src/keys/key.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { as, hello as chatOf, startLimited } from '../limits/support.ts';
import { find, readSeries } from './support.ts';

const keys = { web: 'the-first-key-of-this-service', app: 'the-second-key-of-this-service' };
const [web, app] = await Promise.all([nameOfToken(keys.web), nameOfToken(keys.app)]);
const withKeys = { METRICS_PORT: '0', PARLANCE_SANDBOX: '1', API_KEYS: Object.values(keys).join(',') };
const open = { METRICS_PORT: '0', PARLANCE_SANDBOX: '1' };

const authorization = (key: string) => ({ authorization: `Bearer ${key}` });

/** Whole, so that the request has ended. */
async function ask(
  service: TestService,
  path: string,
  body: object | undefined,
  headers: Record<string, string> = {},
): Promise<number> {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(service.url + path, {
    ...init,
    headers: { 'content-type': 'application/json', ...headers },
  });
  await answer.arrayBuffer();
  return answer.status;
}

const hello = { messages: [{ role: 'user', content: 'hello there' }] };

/** One second of silence. */
const memo = Buffer.concat([wavHeader(32_000), Buffer.alloc(32_000)]);

async function transcribe(service: TestService, headers: Record<string, string> = {}): Promise<Response> {
  const body = multipart({ name: 'file', value: memo, filename: 'memo.wav' });
  return service.api('/transcribe', { method: 'POST', headers: { ...multipartType, ...headers }, body });
}

/** A request counts once its log line is there. */
const lines = (service: TestService) => service.log.filter(({ msg, level }) => msg === 'request' && level >= 30);
const logged = (service: TestService, count: number) => eventually(() => lines(service)).toHaveLength(count);

describe('a request', () => {
  it.each([
    ['/api/v1/chat', '/api/v1/chat'],
    ['/v1/chat/completions', '/v1/chat/completions'],
  ])('to %s counts with the template of its API', async (path, route) => {
    await using service = await startTestService({ env: open });
    expect(await ask(service, path, { model: 'sandbox-chat', ...hello })).toBe(200);
    await logged(service, 1);
    const labels = { http_request_method: 'POST', http_route: route, http_response_status_code: '200', error_type: '' };
    expect(find(await readSeries(service), 'http_server_request_duration_seconds_count', labels)).toEqual({ count: 1, sum: 1 }); // prettier-ignore
  });

  it('counts with a template for ids in its path', async () => {
    await using service = await startTestService({ env: open });
    await ask(service, '/api/v1/tts/clips/Zm9vYmFyZm9vYmFyZm9vYg', undefined);
    await ask(service, '/v1/models/sandbox-chat', undefined);
    await logged(service, 2);
    const series = await readSeries(service);
    const count = (http_route: string) =>
      find(series, 'http_server_request_duration_seconds_count', { http_route }).sum;
    expect([count('/api/v1/tts/clips/{id}'), count('/v1/models/{id}')]).toEqual([1, 1]);
  });

  it('that fails counts with its code; one without an operation is unmatched', async () => {
    await using service = await startTestService({ env: open });
    await ask(service, '/api/v1/chat', { ...hello, model: 'absent' });
    await ask(service, '/wp-login.php', undefined);
    await logged(service, 2);
    const series = await readSeries(service);
    const name = 'http_server_request_duration_seconds_count';
    expect(find(series, name, { http_route: '/api/v1/chat', error_type: 'unknown-model' }).sum).toBe(1);
    expect(find(series, name, { http_route: 'unmatched', error_type: 'not-found' }).sum).toBe(1);
  });

  it('that streams and fails counts with its code, at status 200', async () => {
    await using service = await startTestService({ env: open });
    const messages = [{ role: 'user', content: 'one\nfail: provider-error' }];
    expect(await ask(service, '/api/v1/chat/stream', { messages })).toBe(200);
    await logged(service, 1);
    const series = await readSeries(service);
    const labels = { http_response_status_code: '200', error_type: 'provider-error' };
    expect(find(series, 'http_server_request_duration_seconds_count', labels).sum).toBe(1);
    expect(find(series, 'gen_ai_client_operation_duration_seconds_count', { error_type: 'provider-error' }).sum).toBe(
      1,
    );
  });

  it('whose caller disconnects is canceled, and so is its chat', async () => {
    await using service = await startTestService({ env: open });
    const leave = new AbortController();
    const body = { model: 'sandbox-chat-slow', ...hello };
    const stream = await service.post('/chat/stream', body, { signal: leave.signal });
    await eventually(async () => find(await readSeries(service), 'http_server_active_requests').sum).toBe(1);
    leave.abort();
    await expect(stream.text()).rejects.toThrow();
    await logged(service, 1);
    const series = await readSeries(service);
    const labels = { http_response_status_code: '499', error_type: 'cancelled' };
    expect(find(series, 'http_server_request_duration_seconds_count', labels).sum).toBe(1);
    expect(find(series, 'gen_ai_client_operation_duration_seconds_count', { error_type: 'cancelled' }).sum).toBe(1);
    expect(find(series, 'http_server_active_requests').sum).toBe(0);
  });

  it('that is not HTTP counts, too', async () => {
    await using service = await startTestService({ env: open });
    using connection = await connectRaw(service.url);
    await connection.send('NONSENSE\r\n\r\n');
    await connection.closed;
    const labels = { http_request_method: '_OTHER', http_route: 'unmatched', error_type: 'malformed-request' };
    expect(find(await readSeries(service), 'http_server_request_duration_seconds_count', labels).sum).toBe(1);
  });

  it('to a probe is not counted', async () => {
    await using service = await startTestService({ env: open });
    await ask(service, '/healthz', undefined);
    await ask(service, '/readyz', undefined);
    await ask(service, '/nothing', undefined);
    await logged(service, 1);
    expect(find(await readSeries(service), 'http_server_request_duration_seconds_count').sum).toBe(1);
  });
});

describe('a chat', () => {
  const chat = { gen_ai_operation_name: 'chat', gen_ai_provider_name: 'sandbox', gen_ai_request_model: 'sandbox-chat' };

  it('counts its duration and tokens by model and engine, the first chunk of streams only', async () => {
    await using service = await startTestService({ env: open });
    await ask(service, '/api/v1/chat', hello);
    const before = await readSeries(service);
    expect(find(before, 'gen_ai_client_operation_duration_seconds_count', { ...chat, error_type: '' }).sum).toBe(1);
    expect(find(before, 'gen_ai_client_operation_time_to_first_chunk_seconds_count').sum).toBe(0);
    expect(find(before, 'gen_ai_client_token_usage_sum', { ...chat, gen_ai_token_type: 'input' }).sum).toBe(2);
    expect(find(before, 'gen_ai_client_token_usage_sum', { ...chat, gen_ai_token_type: 'output' }).sum).toBe(4);
    await ask(service, '/api/v1/chat/stream', hello);
    await ask(service, '/v1/chat/completions', { ...hello, model: 'sandbox-chat', stream: true });
    const after = await readSeries(service);
    expect(find(after, 'gen_ai_client_operation_time_to_first_chunk_seconds_count', chat).sum).toBe(2);
    expect(find(after, 'gen_ai_client_operation_duration_seconds_count', chat).sum).toBe(3);
  });

  it('counts the tools that it was offered by name, and those that the model makes up as other', async () => {
    await using service = await startTestService({ env: open });
    const content = 'call read_aloud {"text": "hello"}\ncall read_aloud {}\ncall no_such_tool {}';
    await ask(service, '/api/v1/chat', { messages: [{ role: 'user', content }] });
    const series = await readSeries(service);
    const calls = (tool: string, ok: string) => find(series, 'parlance_tool_calls_total', { tool, ok }).sum;
    expect([calls('read_aloud', 'true'), calls('read_aloud', 'false'), calls('other', 'false')]).toEqual([1, 1, 1]);
    expect(find(series, 'parlance_tool_calls_total').count).toBe(3);
    expect(series.get('parlance_clips')).toBe(1);
    await eventually(async () => (await readSeries(service)).get('parlance_clips_bytes')).toBeGreaterThan(100);
  });
});

describe('voice', () => {
  it('counts transcriptions by model, with the length of the recording', async () => {
    await using service = await startTestService({ env: open });
    expect((await transcribe(service)).status).toBe(200);
    const series = await readSeries(service);
    const labels = { model: 'sandbox-transcribe' };
    expect(find(series, 'parlance_transcription_duration_seconds_count', { ...labels, error_type: '' }).sum).toBe(1);
    expect(find(series, 'parlance_audio_seconds_total', labels).sum).toBeCloseTo(1);
    expect(find(series, 'parlance_queue_wait_seconds_count', { engine: 'sandbox' }).sum).toBe(1);
  });

  it('counts transcriptions that fail with their code', async () => {
    await using service = await startTestService({ env: open });
    const body = multipart({ name: 'file', value: memo, filename: 'memo.wav' }, { name: 'language', value: 'xx' });
    const answer = await service.api('/transcribe', { method: 'POST', headers: multipartType, body });
    expect(answer.status).toBe(422);
    const labels = { model: 'sandbox-transcribe', error_type: 'language-not-supported' };
    expect(find(await readSeries(service), 'parlance_transcription_duration_seconds_count', labels).sum).toBe(1);
  });

  it.each([
    ['/api/v1/tts', { text: 'hello' }],
    ['/v1/audio/speech', { input: 'hello', voice: 'alloy', model: 'tts-1' }],
    ['/api/v1/tts/clips', { text: 'hello' }],
  ])('counts the speech of %s by model', async (path, body) => {
    await using service = await startTestService({ env: open });
    expect(await ask(service, path, body)).toBeLessThan(300);
    const labels = { model: 'sandbox-speech', error_type: '' };
    const count = async () => find(await readSeries(service), 'parlance_speech_duration_seconds_count', labels).sum;
    await eventually(count).toBe(1);
    expect(find(await readSeries(service), 'parlance_speech_time_to_first_byte_seconds_count').sum).toBe(1);
  });

  it('counts speech that no one reads any more as canceled', async () => {
    await using service = await startTestService({ env: open });
    const body = { text: 'one two three four five six seven', model: 'sandbox-speech-slow' };
    const { id } = (await (await service.post('/tts/clips', body)).json()) as { id: string };
    expect((await service.api(`/tts/clips/${id}`, { method: 'DELETE' })).status).toBe(204);
    const labels = { model: 'sandbox-speech-slow', error_type: 'cancelled' };
    const count = async () => find(await readSeries(service), 'parlance_speech_duration_seconds_count', labels).sum;
    await eventually(count).toBe(1);
  });
});

describe('a queue', () => {
  /** One slot and one place; its jobs end once there is a file named `finish`. */
  const source = `
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export default {
  contract: 1,
  name: 'gated',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create(options, context) {
    const queue = context.queue({ slots: 1, waiting: 1 });
    const job = async (signal) => {
      while (!existsSync(context.resolve('finish'))) await wait(5, undefined, { signal });
      return { text: 'at last', language: null, durationMs: 1500 };
    };
    return {
      models: [{ id: 'gated', local: true }],
      transcribe: (_call, { signal }) => queue.run(() => job(signal), { signal }),
    };
  },
};
`;
  const gated: TestServiceOptions = {
    env: { METRICS_PORT: '0' },
    config: 'engines: { gated: { use: ./gated.mjs } }\n',
    files: { 'gated.mjs': source },
  };

  it('shows running and waiting calls, rejections and waiting times', async () => {
    await using service = await startTestService(gated);
    const state = async () => {
      const series = await readSeries(service);
      const names = ['parlance_queue_slots', 'parlance_queue_running', 'parlance_queue_waiting'];
      return names.map((name) => series.get(`${name}{engine="gated"}`));
    };
    expect(await state()).toEqual([1, 0, 0]);
    const first = transcribe(service);
    await eventually(state).toEqual([1, 1, 0]);
    const second = transcribe(service);
    await eventually(state).toEqual([1, 1, 1]);
    expect((await transcribe(service)).status).toBe(503);
    const refused = (series: ReadonlyMap<string, number>, reason: string) =>
      series.get(`parlance_queue_refused_total{engine="gated",reason="${reason}"}`);
    const full = await readSeries(service);
    expect(['full', 'deadline', 'pushed_out'].map((reason) => refused(full, reason))).toEqual([1, 0, 0]);
    await writeFile(join(service.dir, 'finish'), '');
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(await state()).toEqual([1, 0, 0]);
    expect(find(await readSeries(service), 'parlance_queue_wait_seconds_count', { engine: 'gated' }).sum).toBe(2);
  });
});

describe('keys', () => {
  it('count requests, tokens and audio by name', async () => {
    await using service = await startTestService({ env: withKeys });
    await ask(service, '/api/v1/chat', hello, authorization(keys.app));
    await ask(service, '/api/v1/chat', hello, authorization(keys.app));
    await transcribe(service, authorization(keys.web));
    await logged(service, 3);
    const series = await readSeries(service);
    const requests = (key: string, operation: string) => find(series, 'parlance_key_requests_total', { key, operation }).sum; // prettier-ignore
    expect([requests(app, 'createChat'), requests(web, 'createTranscription')]).toEqual([2, 1]);
    expect(find(series, 'parlance_key_tokens_total', { key: app }).sum).toBe(12);
    expect(find(series, 'parlance_key_audio_seconds_total', { key: web }).sum).toBeCloseTo(1);
  });

  it('that are unknown are not counted, and no token is in the metrics', async () => {
    await using service = await startTestService({ env: withKeys });
    expect(await ask(service, '/api/v1/chat', hello, authorization('a-wrong-token-of-somebody'))).toBe(401);
    await ask(service, '/api/v1/chat', hello, authorization(keys.web));
    await logged(service, 2);
    const series = await readSeries(service);
    expect(find(series, 'parlance_key_requests_total')).toEqual({ count: 1, sum: 1 });
    const text = [...series.keys()].join('\n');
    for (const token of [...Object.values(keys), 'a-wrong-token-of-somebody']) expect(text).not.toContain(token);
  });

  it('count the requests that their limits reject, by limit', async () => {
    await using service = await startLimited({ app: { requestsPerMinute: 1 } }, { env: { METRICS_PORT: '0' } });
    expect(await ask(service, '/api/v1/chat', chatOf('fine'), as('app'))).toBe(200);
    expect(await ask(service, '/api/v1/chat', chatOf('fine'), as('app'))).toBe(429);
    await logged(service, 2);
    const series = await readSeries(service);
    expect(find(series, 'parlance_key_limited_total', { key: 'app', policy: 'requests' }).sum).toBe(1);
  });

  it('do not exist in open mode, where the caller is an address', async () => {
    await using service = await startTestService({ env: open });
    await ask(service, '/api/v1/chat', hello);
    await logged(service, 1);
    const series = await readSeries(service);
    expect([...series.keys()].filter((name) => name.startsWith('parlance_key_'))).toEqual([]);
    expect([...series.keys()].join('\n')).not.toContain('127.0.0.1');
  });
});

describe('MCP servers', () => {
  it('are up or down by name', async () => {
    await using service = await startTestService({
      env: { METRICS_PORT: '0' },
      config: 'engines: { sandbox: { use: sandbox } }\nmcpServers: { gone: { url: "http://127.0.0.1:9/mcp" } }\n',
    });
    expect((await readSeries(service)).get('parlance_mcp_server_up{server="gone"}')).toBe(0);
  });
});

describe('the log line of a request', () => {
  const lineOf = async (service: TestService) => {
    await logged(service, 1);
    return lines(service)[0];
  };

  it('has the key, the model and the tokens of a chat', async () => {
    await using service = await startTestService({ env: { ...withKeys, METRICS_PORT: '' } });
    await ask(
      service,
      '/v1/chat/completions',
      { ...hello, model: 'sandbox-chat', stream: true },
      authorization(keys.app),
    );
    expect(await lineOf(service)).toMatchObject({ key: app, model: 'sandbox-chat', tokens: 6 });
  });

  it('has the model, the length of the recording and the time in the queue of a transcription', async () => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    await transcribe(service);
    const line = await lineOf(service);
    expect(line).toMatchObject({ model: 'sandbox-transcribe', audio_ms: 1000, queue_ms: expect.any(Number) as number });
    expect(line).not.toHaveProperty('key'); // in open mode the caller is an address
    expect(line).not.toHaveProperty('tokens');
  });

  it('of a chat that reads aloud has the model of the chat', async () => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    await ask(service, '/api/v1/chat', { messages: [{ role: 'user', content: 'read aloud: hello' }] });
    expect(await lineOf(service)).toMatchObject({ model: 'sandbox-chat' });
  });

  it('omits unknown fields', async () => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    await ask(service, '/api/v1/chat', { ...hello, model: 'absent' });
    const line = await lineOf(service);
    for (const name of ['key', 'model', 'audio_ms', 'queue_ms', 'tokens']) expect(line).not.toHaveProperty(name);
  });
});

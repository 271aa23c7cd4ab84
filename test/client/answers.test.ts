/** What the client makes of answers that the service would never give, from a raw server: proxies, cuts, newer services. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient, ParlanceError, type ChatEvent, type Client } from '../../src/client/index.ts';
import { until } from '../support/processes.ts';
import { answers, resets, says, startProvider, type Behavior, type RawProvider } from '../support/provider.ts';
import { failureOf } from './support/failure.ts';

async function clientOf(...behaviors: Behavior[]): Promise<{ client: Client; server: RawProvider; origin: string }> {
  const server = await startProvider();
  server.behave(...behaviors);
  const { origin } = new URL(server.baseUrl);
  return { client: createClient({ baseUrl: origin }), server, origin };
}

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };
const result = { content: 'Grüß', model: 'm', finish_reason: 'stop', reasoning: null, usage: null };
const json = { 'content-type': 'application/json' };

describe('an answer that is not from the service', () => {
  const html = '<html><h1>502 Bad Gateway</h1></html>';

  it.each<[string, Behavior, object]>([
    [
      'HTML of a proxy that fails',
      answers(502, html, { 'content-type': 'text/html', 'retry-after': '30' }),
      { status: 502, retryAfter: 30 },
    ],
    ['HTML of a proxy that answers', answers(200, html, { 'content-type': 'text/html' }), { status: 200 }],
    ['nothing at all', answers(200, '', { 'content-type': 'application/json' }), { status: 200 }],
    ['broken JSON', answers(200, '{"content": ', { 'content-type': 'application/json' }), {}],
    ['an invalid problem', answers(404, '{}', { 'content-type': 'application/problem+json' }), { status: 404 }],
    ['a broken problem', answers(404, '{', { 'content-type': 'application/problem+json' }), { status: 404 }],
    [
      'a body that breaks off',
      says('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"content":"'),
      {},
    ],
  ])('is an unexpected answer: %s', async (_what, behavior, expected) => {
    const { client } = await clientOf(behavior);
    expect(await failureOf(client.chat(request))).toMatchObject({ code: 'unexpected-answer', ...expected });
  });

  it('is detected for streams and audio, too', async () => {
    const { client } = await clientOf(answers(200, {}, { 'content-type': 'application/json' }));
    expect(await failureOf(client.streamChat(request).next())).toMatchObject({ code: 'unexpected-answer' });
    expect(await failureOf(client.speak({ text: 'Hello.' }))).toMatchObject({ code: 'unexpected-answer' });
  });

  it('converts a date in Retry-After to seconds', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { client } = await clientOf(answers(503, html, { 'content-type': 'text/html', 'retry-after': date }));
    const { retryAfter } = await failureOf(client.chat(request));
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
  });
});

describe('JSON of another service', () => {
  const entry = {
    id: 'a',
    name: 'a',
    engine: 'e',
    local: true,
    available: true,
    code: 'ready',
    reason: '',
    supports: [],
  };
  const job = { id: 'a', status: 'running', segments: [], result: null, problem: null };

  it.each<[string, (client: Client) => Promise<unknown>, readonly unknown[]]>([
    [
      'chat',
      (client) => client.chat(request),
      [
        { ...result, content: 7 },
        { ...result, usage: {} },
      ],
    ],
    ['chatModels', (client) => client.chatModels(), [{ data: {} }, { data: [{}], default: null }, { data: [null] }]],
    ['speechModels', (client) => client.speechModels(), [{ data: [entry], default: null }]],
    ['transcriptionModels', (client) => client.transcriptionModels(), [{ data: [{ ...entry, reason: null }] }]],
    ['transcriptionAvailability', (client) => client.transcriptionAvailability(), [{ available: 'yes' }]],
    ['createClip', (client) => client.createClip({ text: 'Hi.' }), [{ id: 'a' }, { id: 'a', url: null }]],
    ['preparations.list', ({ preparations }) => preparations.list(), [{ data: [{ id: 'a' }] }]],
    ['preparations.start', ({ preparations }) => preparations.start('a'), [{ id: 'a' }]],
    ['transcriptions.get', ({ transcriptions }) => transcriptions.get('a'), [{ ...job, result: {} }]],
    ['transcriptions.wait', ({ transcriptions }) => transcriptions.wait('a'), [{ ...job, problem: {} }]],
  ])('is an unexpected answer to %s', async (_name, call, bodies) => {
    for (const body of [...bodies, null, [], {}, 'text', 7]) {
      const { client } = await clientOf(answers(200, JSON.stringify(body), json));
      expect(await failureOf(call(client)), JSON.stringify(body)).toMatchObject({ code: 'unexpected-answer' });
    }
  });

  it('is an unexpected answer with a clip whose URL is invalid', async () => {
    const link = '<http://[>; rel="enclosure"';
    const { client } = await clientOf(answers(200, result, { ...json, link }));
    expect(await failureOf(client.chat(request))).toMatchObject({ code: 'unexpected-answer' });
    const { client: other } = await clientOf(answers(200, { id: 'a', url: 'http://[' }, json));
    expect(await failureOf(other.createClip({ text: 'Hi.' }))).toMatchObject({ code: 'unexpected-answer' });
  });

  it('may have any Link that is not that of a clip', async () => {
    for (const link of ['<http://[>; rel="preload"', '<', '<>;;;', ',,,', 'null', '<a>; rel']) {
      const { client } = await clientOf(answers(200, result, { ...json, link }));
      expect((await client.chat(request)).clips).toEqual([]);
    }
  });

  it('is an unexpected answer to a transcript and a deletion, as HTML is', async () => {
    for (const type of ['text/html', 'application/json']) {
      const { client } = await clientOf(answers(200, '{}', { 'content-type': type }));
      expect(await failureOf(client.transcriptions.transcript('a'))).toMatchObject({ code: 'unexpected-answer' });
      expect(await failureOf(client.transcriptions.delete('a'))).toMatchObject({ code: 'unexpected-answer' });
      expect(await failureOf(client.deleteClip('a'))).toMatchObject({ code: 'unexpected-answer' });
    }
  });

  it('is a problem with the valid members of it', async () => {
    const odd = { code: 'overloaded', detail: 'Busy.', status: 'x', errors: 'none', instance: 7, retry_after: 'soon' };
    const { client } = await clientOf(answers(503, odd, { 'content-type': 'application/problem+json' }));
    const { code, status, errors, requestId, retryAfter } = await failureOf(client.chat(request));
    const expected = { code: 'overloaded', status: 503, errors: [], requestId: undefined, retryAfter: undefined };
    expect({ code, status, errors, requestId, retryAfter }).toEqual(expected);
  });
});

describe('a wait for a transcription pauses', () => {
  const job = { id: 'a', status: 'running', segments: [], result: null, problem: null };
  const answer = (status: number, body: string, headers: Record<string, string>) => () =>
    Promise.resolve(new Response(body, { status, headers }));
  const problem = (more: string) =>
    answer(503, `{"code":"overloaded","detail":"Busy.",${more}}`, { 'content-type': 'application/problem+json' });
  const stream = answer(200, '', { 'content-type': 'text/event-stream' });

  it.each<[string, () => Promise<Response>]>([
    ['the service does not wait', answer(200, JSON.stringify(job), json)],
    ['there is no Retry-After', answer(503, '<html>', { 'content-type': 'text/html' })],
    ['Retry-After is no number', answer(503, '<html>', { 'content-type': 'text/html', 'retry-after': 'soon' })],
    ['Retry-After is 0', answer(429, '<html>', { 'content-type': 'text/html', 'retry-after': '0' })],
    ['a problem has a text as its retry_after', problem('"retry_after":"soon"')],
    ['a problem has a negative retry_after', problem('"retry_after":-1')],
    ['a problem has an endless retry_after', problem('"retry_after":1e999')],
    ['there is no answer', () => Promise.reject(new TypeError('fetch failed'))],
  ])('for a second if %s', async (_what, fetch) => {
    await expectPauses(fetch, ({ transcriptions }, signal) => transcriptions.wait('a', { signal }));
  });

  it('for a second if each stream of events ends at once', async () => {
    await expectPauses(stream, ({ transcriptions }, signal) => transcriptions.events('a', { signal }).next());
  });

  /** The clock stands still between the steps. */
  async function expectPauses(
    fetch: () => Promise<Response>,
    call: (client: Client, signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    let calls = 0;
    const client = createClient({ baseUrl: 'http://service.test', fetch: () => ((calls += 1), fetch()) });
    const leaving = new AbortController();
    const ended = call(client, leaving.signal).catch((error: unknown) => error);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    while (vi.getTimerCount() === 0 && calls < 2) await turn();
    await vi.advanceTimersByTimeAsync(999);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    while (calls < 2) await turn();
    leaving.abort(new Error('no more'));
    expect(await ended).toEqual(new Error('no more'));
  }
});

describe('no answer', () => {
  it('is `unreachable`, with the reason as its cause', async () => {
    const { client, server, origin } = await clientOf(resets);
    const reset = await failureOf(client.chatModels());
    expect(reset).toMatchObject({ code: 'unreachable', status: undefined });
    expect(reset.message).toContain(origin);
    expect(reset.cause).toBeInstanceOf(Error);
    await server[Symbol.asyncDispose]();
    expect(await failureOf(client.chatModels())).toMatchObject({ code: 'unreachable' });
  });

  it('is not retried', async () => {
    const { client, server } = await clientOf(resets);
    await failureOf(client.chat(request));
    expect(server.calls).toHaveLength(1);
  });
});

it('a call with invalid arguments rejects with a TypeError', async () => {
  const { server, origin } = await clientOf(resets);
  const client = createClient({ baseUrl: origin, apiKey: 'ключ' });
  await expect(client.chat(request)).rejects.toThrow(TypeError);
  await expect(client.chatModels()).rejects.toThrow(TypeError);
  await expect(client.streamChat(request).next()).rejects.toThrow(TypeError);
  expect(server.calls).toHaveLength(0);
});

it('a problem with a code of a newer service keeps it', async () => {
  const problem = { type: 'urn:parlance:problem:new', title: 'New', status: 409, detail: 'New.', code: 'new' };
  const { client } = await clientOf(answers(409, problem, { 'content-type': 'application/problem+json' }));
  expect(await failureOf(client.chat(request))).toMatchObject({ status: 409, code: 'new', detail: 'New.' });
});

it('clips are links with the relation enclosure, in any valid spelling', async () => {
  const link = [
    '</api/v1/tts/clips/one>; rel="enclosure"; type="audio/mpeg"',
    '<https://elsewhere.test/clips/two,three>;type=audio/wav;rel=enclosure;title="a, \\"b\\"; c"',
    '</docs>; rel="help"',
  ].join(', ');
  const { client, origin } = await clientOf(answers(200, result, { 'content-type': 'application/json', link }));
  expect((await client.chat(request)).clips).toEqual([
    { url: `${origin}/api/v1/tts/clips/one`, content_type: 'audio/mpeg' },
    { url: 'https://elsewhere.test/clips/two,three', content_type: 'audio/wav' },
  ]);
});

describe('a stream', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n';
  const event = (seq: number, type: string, more: object = {}) =>
    Buffer.from(`event: ${type}\nid: ${seq}\ndata: ${JSON.stringify({ type, seq, ...more })}\n\n`).toString('latin1');
  const started = event(0, 'chat.started', { id: 'x', model: 'm' });
  const delta = event(1, 'content.delta', { step: 0, delta: 'Grüß' });
  const completed = (seq: number) => event(seq, 'chat.completed', { result });

  /** Sent with a length, so that the end of the body is a good one. */
  const stream = (...events: string[]) => says(`${head}content-length: ${events.join('').length}\r\n\r\n`, ...events);

  async function read(client: Client): Promise<{ seen: ChatEvent['type'][]; error: unknown }> {
    const seen: ChatEvent['type'][] = [];
    try {
      for await (const { type } of client.streamChat(request)) seen.push(type);
      return { seen, error: undefined };
    } catch (error) {
      return { seen, error };
    }
  }

  it('ends with its last event', async () => {
    const { client } = await clientOf(stream(started, delta, completed(2)));
    expect(await read(client)).toEqual({ seen: ['chat.started', 'content.delta', 'chat.completed'], error: undefined });
  });

  it('ends with its last event, also without its blank line', async () => {
    const { client } = await clientOf(stream(started, delta, completed(2).trimEnd()));
    expect((await read(client)).seen).toEqual(['chat.started', 'content.delta', 'chat.completed']);
  });

  it('may be split anywhere, also within a character', async () => {
    const { client } = await clientOf(async ({ body, socket }) => {
      await body;
      for (const byte of `${head}connection: close\r\n\r\n${started}: comment\n\n${delta}${completed(2)}`) {
        socket.write(byte, 'latin1');
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.end();
    });
    const deltas: string[] = [];
    for await (const event of client.streamChat(request)) if (event.type === 'content.delta') deltas.push(event.delta);
    expect(deltas).toEqual(['Grüß']);
  });

  it('skips events of unknown types', async () => {
    const { client } = await clientOf(stream(started, event(1, 'weather.changed', { sun: true }), completed(2)));
    expect(await read(client)).toEqual({ seen: ['chat.started', 'chat.completed'], error: undefined });
  });

  it.each([
    ...(
      [
        ['content.delta', { step: 0 }],
        ['audio.created', { audio: { id: 'a' } }],
        ['tool.finished', { id: 'a', ok: true, output: {}, duration_ms: 1 }],
        ['chat.completed', { result: {} }],
        ['chat.failed', {}],
        ['chat.failed', { problem: null }],
      ] as const
    ).map(([type, more]): [string, Behavior, string, number] => [
      `has an invalid event (${type})`,
      stream(started, event(1, type, more)),
      `An event of the type ${type} is invalid.`,
      1,
    ]),
    ['ends without its last event', stream(started, delta), 'The stream ended before its last event.', 2],
    ['is empty', says(`${head}connection: close\r\n\r\n`), 'The stream ended before its last event.', 0],
    [
      'breaks off',
      says(`${head}content-length: 9999\r\n\r\n`, started),
      'The connection broke before the last event.',
      1,
    ],
    [
      'continues behind its last event',
      stream(started, completed(1), event(2, 'step.started')),
      'after the last event',
      1,
    ],
    ['loses an event', stream(started, completed(2)), 'Expected event 1, received event 2.', 1],
    ['is not JSON', stream(started, 'data: nonsense\n\n'), 'is not JSON', 1],
    ['has an event without a number', stream(started, 'data: {"type":"step.started"}\n\n'), 'no sequence number', 1],
    ['has null for an event', stream(started, 'data: null\n\n'), 'no type', 1],
  ])('throws when it %s', async (_what, behavior, message, events) => {
    const { client } = await clientOf(behavior);
    const { seen, error } = await read(client);
    expect(error).toBeInstanceOf(ParlanceError);
    expect(error).toMatchObject({ code: 'stream-broken', message: expect.stringContaining(message) as string });
    expect(seen).toHaveLength(events);
  });

  it('that stays open after its last event is closed', async () => {
    const { client, server } = await clientOf(async ({ body, socket }) => {
      await body;
      socket.write(`${head}connection: close\r\n\r\n${started}${completed(1)}`, 'latin1');
    });
    expect(await read(client)).toEqual({ seen: ['chat.started', 'chat.completed'], error: undefined });
    await until('the connection is closed', () => server.open.size === 0);
  });
});

it('a recording is encoded as browsers do', async () => {
  const event = { type: 'transcription.completed', seq: 0, result: { text: '' } };
  const events = `data: ${JSON.stringify(event)}\n\n`;
  const { client, server } = await clientOf(answers(200, events, { 'content-type': 'text/event-stream' }));
  const file = new File(['RIFF'], 'a "b"\r\n.wav', { type: 'audio/wav' });
  const voice = new File(['voice'], 'ada.wav');
  await client.transcribe(file, {
    ...{ model: 'ear', language: 'de' },
    ...{ known_speaker_names: ['Ada', 'Bob'], known_speaker_references: [voice, Buffer.from('bytes')] },
  });
  await client.transcribe(Buffer.from('RIFF'));
  await client.transcribe(file, { fileName: 'c.wav' });
  const [first, ...others] = await Promise.all(server.calls.map(({ body }) => body.then(String)));
  const [, boundary = ''] = /boundary=(\S+)/.exec(server.calls[0]?.headers['content-type'] ?? '') ?? [];
  const lines = [
    `--${boundary}`,
    'Content-Disposition: form-data; name="model"',
    '',
    'ear',
    `--${boundary}`,
    'Content-Disposition: form-data; name="language"',
    '',
    'de',
    ...['Ada', 'Bob'].flatMap((name) => [
      `--${boundary}`,
      'Content-Disposition: form-data; name="known_speaker_names"',
      '',
      name,
    ]),
    ...[
      ['ada.wav', 'voice'],
      ['recording', 'bytes'],
    ].flatMap(([name, content]) => [
      `--${boundary}`,
      `Content-Disposition: form-data; name="known_speaker_references"; filename="${name}"`,
      'Content-Type: application/octet-stream',
      '',
      content,
    ]),
    `--${boundary}`,
    'Content-Disposition: form-data; name="file"; filename="a %22b%22%0D%0A.wav"',
    'Content-Type: audio/wav',
    '',
    'RIFF',
    `--${boundary}--`,
    '',
  ];
  expect(first).toBe(lines.join('\r\n'));
  expect(others.map((body) => /filename="(.*)"/.exec(body)?.[1])).toEqual(['recording', 'c.wav']);
});

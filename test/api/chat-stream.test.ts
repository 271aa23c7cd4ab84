/** POST /api/v1/chat and /api/v1/chat/stream over one scripted engine: what goes over the wire, and when. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectGuarantees } from '../chat/support/guarantees.ts';
import {
  audio,
  chatOf,
  completed,
  content,
  emit,
  hello,
  reasoning,
  scripted,
  stepStarted,
  toolFinished,
  toolStarted,
  type Action,
  type Script,
} from '../chat/support/script.ts';
import { openStream, readStream, type EventOf } from '../chat/support/stream.ts';
import { createApi, type Answer, type Api } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

const paths = { plain: '/api/v1/chat', stream: '/api/v1/chat/stream' };
/** Longer than a busy machine keeps a process waiting: what fails before must not be late. */
const holdMs = 1_000;

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService({
    ...scripted,
    env: { PUBLIC_URL: 'https://voice.example/', ALLOW_OPEN: 'true' },
    streamHoldMs: holdMs,
  });
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const plain = (script: Script): Promise<Answer> => api.post(paths.plain, chatOf(script));
const streamed = (script: Script) => readStream(service.url, chatOf(script));

/** Two steps, the first with two tools at once; everything that an engine can tell. */
const everything: Script = [
  stepStarted(0),
  reasoning(0, 'Hm.'),
  content(0, 'Wait.'),
  toolStarted(0, 0),
  toolStarted(0, 1, 'files__read'),
  emit({ type: 'tool-event', step: 0, call: 1, event: { type: 'progress', progress: 0.5, total: 2, message: 'half' } }),
  emit({ type: 'tool-event', step: 0, call: 1, event: { type: 'progress', progress: 1 } }),
  audio(0, 0, 'Vb1yPz4mQ0iYxkq3o9TtWw'),
  emit({
    type: 'tool-finished',
    step: 0,
    call: 1,
    name: 'files__read',
    ok: false,
    error: 'There is no such file.',
    durationMs: 12.6,
  }),
  toolFinished(0, 0),
  stepStarted(1),
  content(1, 'Grüße, '),
  content(1, 'Welt 🌍\n\n'),
  emit({
    type: 'completed',
    result: {
      content: 'Grüße, Welt 🌍\n\n',
      finishReason: 'length',
      reasoning: 'Hm.',
      usage: { promptTokens: 14, completionTokens: 3, totalTokens: 17, reasoningTokens: 1 },
    },
  }),
];

const result = {
  content: 'Grüße, Welt 🌍\n\n',
  model: 'scripted',
  finish_reason: 'length',
  reasoning: 'Hm.',
  usage: { prompt_tokens: 14, completion_tokens: 3, total_tokens: 17, reasoning_tokens: 1 },
};

const clipUrl = 'https://voice.example/api/v1/tts/clips/Vb1yPz4mQ0iYxkq3o9TtWw';

describe('a stream', () => {
  it('contains the events of a run', async () => {
    const { answer, events } = await streamed(everything);
    expect(answer.status).toBe(200);
    expectGuarantees(events);
    const id = answer.headers.get('x-request-id');
    expect(events).toEqual(
      [
        { type: 'chat.started', id, model: 'scripted' },
        { type: 'step.started', step: 0 },
        { type: 'reasoning.delta', step: 0, delta: 'Hm.' },
        { type: 'content.delta', step: 0, delta: 'Wait.' },
        { type: 'tool.started', step: 0, id: 'tool-0-0', name: 'read_aloud', arguments: { text: 'Hi' } },
        { type: 'tool.started', step: 0, id: 'tool-0-1', name: 'files__read', arguments: { text: 'Hi' } },
        { type: 'tool.progress', step: 0, id: 'tool-0-1', progress: 0.5, total: 2, message: 'half' },
        { type: 'tool.progress', step: 0, id: 'tool-0-1', progress: 1 },
        {
          type: 'audio.created',
          step: 0,
          id: 'tool-0-0',
          audio: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw', url: clipUrl, content_type: 'audio/mpeg' },
        },
        {
          type: 'tool.finished',
          step: 0,
          id: 'tool-0-1',
          name: 'files__read',
          ok: false,
          error: 'There is no such file.',
          duration_ms: 13,
        },
        {
          type: 'tool.finished',
          step: 0,
          id: 'tool-0-0',
          name: 'read_aloud',
          ok: true,
          output: 'done',
          duration_ms: 1,
        },
        { type: 'step.started', step: 1 },
        { type: 'content.delta', step: 1, delta: 'Grüße, ' },
        { type: 'content.delta', step: 1, delta: 'Welt 🌍\n\n' },
        { type: 'chat.completed', result },
      ].map((event, seq) => ({ seq, ...event })),
    );
  });

  it('has the exact SSE format', async () => {
    const { answer } = await streamed(hello);
    const id = answer.headers.get('x-request-id');
    expect(answer.text).toBe(`event: chat.started
id: 0
data: {"type":"chat.started","seq":0,"id":"${id}","model":"scripted"}

event: step.started
id: 1
data: {"type":"step.started","seq":1,"step":0}

event: content.delta
id: 2
data: {"type":"content.delta","seq":2,"step":0,"delta":"Hel"}

event: content.delta
id: 3
data: {"type":"content.delta","seq":3,"step":0,"delta":"lo."}

event: chat.completed
id: 4
data: {"type":"chat.completed","seq":4,"result":{"content":"Hello.","model":"scripted","finish_reason":"stop","reasoning":null,"usage":null}}

`);
  });

  it('has headers that prevent proxy buffering', async () => {
    const { headers } = (await streamed(hello)).answer;
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('transfer-encoding')).toBe('chunked');
    expect(headers.has('content-length')).toBe(false);
  });

  it('sends each event immediately', async () => {
    using stream = await openStream(service.url, chatOf([stepStarted(0), content(0, 'Hi'), { wait: 'signal' }]));
    await expect
      .poll(() => stream.events.map(({ type }) => type))
      .toEqual(['chat.started', 'step.started', 'content.delta']);
  });

  it('allows reuse of its connection', async () => {
    using connection = await connectRaw(service.url);
    const body = JSON.stringify(chatOf(hello));
    const json = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    await connection.send(requestHead('POST', paths.stream, json) + body);
    await expect.poll(() => connection.received).toMatch(/chat\.completed[^]*\r\n0\r\n\r\n$/);
    await connection.send(requestHead('GET', '/api/v1/models', {}));
    await expect.poll(() => connection.received).toContain('"default":"scripted"');
  });

  it('truncates tool output between two characters', async () => {
    const long = `${'x'.repeat(4_094)}🌍 and more`;
    const { events } = await streamed([
      stepStarted(0),
      toolStarted(0, 0),
      emit({ type: 'tool-event', step: 0, call: 0, event: { type: 'progress', progress: 1, message: long } }),
      emit({ type: 'tool-finished', step: 0, call: 0, name: 'a', ok: false, output: long, error: long, durationMs: 0 }),
      completed(''),
    ]);
    const short = `${'x'.repeat(4_094)}…`;
    expect(events[3]).toMatchObject({ type: 'tool.progress', message: short });
    expect(events[4]).toMatchObject({ type: 'tool.finished', output: short, error: short });
  });

  it('drops tool events after the end of the tool', async () => {
    const { events } = await streamed([
      stepStarted(0),
      toolStarted(0, 0),
      toolFinished(0, 0),
      audio(0, 0, 'late'),
      stepStarted(1),
      audio(0, 0, 'later'),
      completed(''),
    ]);
    expectGuarantees(events);
    expect(events.map(({ type }) => type)).not.toContain('audio.created');
    expect(events.at(-1)?.type).toBe('chat.completed');
  });

  it('sends heartbeats when idle', async () => {
    const heartbeatMs = 40;
    await using nervous = await startTestService({ ...scripted, heartbeatMs });
    const asked = performance.now(); // a client that is late counts the heartbeats that it finds
    using stream = await openStream(
      nervous.url,
      chatOf([stepStarted(0), content(0, 'Hi'), { wait: 1_000 }, completed('Hi')]),
    );
    const events = await stream.all();
    expectGuarantees(events);
    expect(stream.comments).toBeGreaterThan(2);
    expect(stream.comments).toBeLessThanOrEqual((performance.now() - asked) / heartbeatMs + 1);
    expect(stream.text).toContain('"delta":"Hi"}\n\n:\n\n:\n\n');
  });

  it('has no heartbeat while there are events', async () => {
    await using service = await startTestService({ ...scripted, heartbeatMs: 2_000 });
    const busy = Array.from({ length: 25 }, () => [{ wait: 100 }, content(0, '.')]).flat();
    using stream = await openStream(service.url, chatOf([stepStarted(0), ...busy, completed('.'.repeat(25))]));
    await stream.all();
    expect(stream.comments).toBe(0);
  });

  describe('with several calls of read_aloud at once', () => {
    const shown = async (script: Script) => {
      const { events } = await streamed(script);
      expectGuarantees(events);
      return events.flatMap((event) => {
        if (event.type === 'audio.created') return `${event.id} ${event.audio.id}`;
        return event.type === 'tool.finished' || event.type === 'tool.progress' ? `${event.id} ${event.type}` : [];
      });
    };
    const progress = (call: number) =>
      emit({ type: 'tool-event', step: 0, call, event: { type: 'progress', progress: 1 } });
    const failed = (call: number, name = 'read_aloud') =>
      emit({ type: 'tool-finished', step: 0, call, name, ok: false, error: 'No.', durationMs: 1 });
    const begun = [
      stepStarted(0),
      toolStarted(0, 0),
      toolStarted(0, 1),
      toolStarted(0, 2, 'files__read'),
      toolStarted(0, 3),
    ];
    const end = [stepStarted(1), toolStarted(1, 0), audio(1, 0, 'next'), toolFinished(1, 0), completed('')];
    const next = ['tool-1-0 next', 'tool-1-0 tool.finished'];

    it("announces the clips in the model's order, each before the end of its call", async () => {
      const reversed = [
        ...[audio(0, 3, 'fourth'), toolFinished(0, 3), audio(0, 1, 'second')],
        ...[progress(2), progress(1), toolFinished(0, 2, 'files__read'), audio(0, 0, 'first')],
        ...[toolFinished(0, 1), toolFinished(0, 0)],
      ];
      expect(await shown([...begun, ...reversed, ...end])).toEqual([
        ...['tool-0-2 tool.progress', 'tool-0-2 tool.finished', 'tool-0-0 first'],
        ...['tool-0-1 second', 'tool-0-1 tool.progress', 'tool-0-3 fourth', 'tool-0-3 tool.finished'],
        ...['tool-0-1 tool.finished', 'tool-0-0 tool.finished', ...next],
      ]);
    });

    it('does not wait for failed calls or announced clips', async () => {
      const script = [
        ...[audio(0, 3, 'fourth'), toolFinished(0, 3), failed(1), audio(0, 0, 'first')],
        ...[failed(2, 'files__read'), toolFinished(0, 0)],
      ];
      expect(await shown([...begun, ...script, ...end])).toEqual([
        ...['tool-0-1 tool.finished', 'tool-0-0 first', 'tool-0-3 fourth', 'tool-0-3 tool.finished'],
        ...['tool-0-2 tool.finished', 'tool-0-0 tool.finished', ...next],
      ]);
    });

    it('fails at once when the run fails while a clip is pending', async () => {
      const { events } = await streamed([...begun, audio(0, 1, 'second'), { fail: 'provider-error' }]);
      expectGuarantees(events);
      expect(events.slice(-2).map(({ type }) => type)).toEqual(['tool.started', 'chat.failed']);
    });
  });
});

describe('the non-streaming response', () => {
  it('is the result of the last event', async () => {
    const { status, body } = await plain(everything);
    expect({ status, body }).toEqual({ status: 200, body: result });
    expect((await streamed(everything)).events.at(-1)).toMatchObject({ type: 'chat.completed', result: body });
  });

  it('lists its clips in Link, in call order', async () => {
    const { headers } = await plain([
      stepStarted(0),
      toolStarted(0, 0),
      toolStarted(0, 1),
      audio(0, 1, 'second', 'audio/ogg'),
      toolFinished(0, 1),
      audio(0, 0, 'first'),
      toolFinished(0, 0),
      stepStarted(1),
      toolStarted(1, 0),
      audio(1, 0, 'third'),
      toolFinished(1, 0),
      stepStarted(2),
      completed(''),
    ]);
    const link = (id: string, type: string) =>
      `<https://voice.example/api/v1/tts/clips/${id}>; rel="enclosure"; type="${type}"`;
    expect(headers.get('link')).toBe(
      [link('first', 'audio/mpeg'), link('second', 'audio/ogg'), link('third', 'audio/mpeg')].join(', '),
    );
  });

  it('escapes clip ids in Link', async () => {
    const { headers } = await plain([
      stepStarted(0),
      toolStarted(0, 0),
      audio(0, 0, 'a>; rel="b"\r\n'),
      toolFinished(0, 0),
      completed(''),
    ]);
    expect(headers.get('link')).toContain('/tts/clips/a%3E%3B%20rel%3D%22b%22%0D%0A>; rel="enclosure"');
  });

  it('has no Link without a clip', async () => {
    expect((await plain(hello)).headers.has('link')).toBe(false);
  });
});

describe('the URL of a clip', () => {
  it('is root-relative without PUBLIC_URL', async () => {
    await using nameless = await startTestService(scripted);
    const { headers } = await createApi(nameless.url).post(paths.plain, chatOf(everything));
    expect(headers.get('link')).toMatch(/^<\/api\/v1\/tts\/clips\/Vb1yPz4mQ0iYxkq3o9TtWw>;/);
  });

  it('is ASCII for a non-ASCII PUBLIC_URL', async () => {
    await using service = await startTestService({
      ...scripted,
      env: { PUBLIC_URL: 'https://例え.jp/声/', ALLOW_OPEN: 'true' },
    });
    const root = 'https://xn--r8jz45g.jp/%E5%A3%B0/api/v1/tts/clips/';
    const { status, headers } = await createApi(service.url).post(paths.plain, chatOf(everything));
    expect(status).toBe(200);
    expect(headers.get('link')).toContain(`<${root}Vb1yPz4mQ0iYxkq3o9TtWw>;`);
    const { events } = await readStream(service.url, chatOf(everything));
    expect(JSON.stringify(events)).toContain(`"${root}Vb1yPz4mQ0iYxkq3o9TtWw"`);
  });
});

/** Both variants end alike as long as nothing has been streamed. */
const asAnswer = {
  plain,
  streamed: async (script: Script) => (await streamed(script)).answer,
};

describe.each(Object.entries(asAnswer))("%s: a failure before the provider's first event", (_variant, answerOf) => {
  it.each<[string, Action[], number, string]>([
    ['at once', [], 429, 'provider-quota-exhausted'],
    ['after the first step has begun', [stepStarted(0)], 429, 'provider-quota-exhausted'],
    ['after a while', [stepStarted(0), { wait: 50 }], 429, 'provider-quota-exhausted'],
  ])('%s keeps its status', async (_when, before, status, code) => {
    const answer = await answerOf([...before, { fail: 'provider-quota-exhausted', message: 'Pay first.' }]);
    expect(answer.status).toBe(status);
    expect(answer.problem).toMatchObject({ code, detail: 'Pay first.' });
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.headers.has('cache-control')).toBe(false);
  });

  it('keeps its Retry-After', async () => {
    const { status, headers } = await answerOf([{ fail: 'provider-rate-limited', retryAfter: 7 }]);
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('7');
  });

  it.each<[string, Script]>([
    ['an engine that ends without a result', []],
    ['an engine that is completed before its first step', [completed('')]],
    ['an engine that begins with the second step', [stepStarted(1), content(1, 'x')]],
    ['an engine that emits an unknown event', [emit({ type: 'nonsense' } as never)]],
  ])('is engine-failed: %s', async (_what, script) => {
    expect((await answerOf(script)).problem).toMatchObject({ status: 500, code: 'engine-failed' });
  });

  it('is a bare 500 for an unexpected error', async () => {
    const { problem } = await answerOf([{ crash: 'the secret of the engine' }]);
    expect(problem).toMatchObject({ status: 500, code: 'engine-failed' });
    expect(JSON.stringify(problem)).not.toContain('secret');
    expect(service.log.find(({ id, level }) => id === problem.instance && level >= 50)).toMatchObject({
      level: 50,
      code: 'engine-failed',
    });
  });
});

describe('a model', () => {
  it.each(Object.values(paths))('that is unavailable is a 503 with its reason: %s', async (path) => {
    const { problem } = await api.post(path, { ...chatOf(hello), model: 'offline' });
    expect(problem).toMatchObject({ status: 503, code: 'model-unavailable', detail: 'It has no key.' });
  });

  it.each(Object.values(paths))('that is unknown is a 422: %s', async (path) => {
    const { problem } = await api.post(path, { ...chatOf(hello), model: 'elsewhere' });
    expect(problem).toMatchObject({ status: 422, code: 'unknown-model' });
    expect(problem.detail).toContain('scripted, offline');
  });
});

describe('a failure in a started stream', () => {
  const failedOf = async (script: Script) => {
    const { answer, events } = await streamed(script);
    expect(answer.status).toBe(200);
    expectGuarantees(events);
    expect(events.at(-1)?.type).toBe('chat.failed');
    const { problem } = events.at(-1) as EventOf<'chat.failed'>;
    expect(problem.instance).toBe(answer.headers.get('x-request-id'));
    return problem;
  };
  const begun = [stepStarted(0), content(0, 'Hel')];

  it('is its last event', async () => {
    expect(await failedOf([...begun, { fail: 'provider-error', message: 'The provider failed.' }])).toEqual({
      type: 'urn:parlance:problem:provider-error',
      title: 'Provider error',
      status: 502,
      detail: 'The provider failed.',
      code: 'provider-error',
      instance: expect.any(String) as string,
    });
  });

  it('is its last event after the delayed start has timed out', async () => {
    const problem = await failedOf([stepStarted(0), { wait: holdMs + 100 }, { fail: 'provider-rate-limited' }]);
    expect(problem).toMatchObject({ status: 429, code: 'provider-rate-limited' });
  });

  it.each<[string, Script]>([
    ['no result', []],
    ['another step before its time', [stepStarted(2)]],
    ['the same step again', [stepStarted(0)]],
    ['a delta of another step', [content(1, 'x')]],
    ['a delta that is no text', [content(0, 5 as never)]],
    ['a call out of turn', [toolStarted(0, 1)]],
    ['the same call twice', [toolStarted(0, 0), toolStarted(0, 0)]],
    ['the end of a call that never was', [toolFinished(0, 0)]],
    ['the end of a call twice', [toolStarted(0, 0), toolFinished(0, 0), toolFinished(0, 0)]],
    ['a step while tools run', [toolStarted(0, 0), stepStarted(1)]],
    ['a result while tools run', [toolStarted(0, 0), completed('Hel')]],
    ['a result that is not what it streamed', [completed('Hello')]],
    ['the content of an earlier step', [stepStarted(1), completed('Hel')]],
  ])('is engine-failed when the engine emits %s, in both variants', async (_what, script) => {
    const problem = await failedOf([...begun, ...script]);
    expect(problem).toMatchObject({ status: 500, code: 'engine-failed' });
    expect((await plain([...begun, ...script])).problem).toEqual({ ...problem, instance: expect.anything() as string });
    expect(service.log.find(({ id, level }) => id === problem.instance && level >= 50)).toMatchObject({
      level: 50,
      code: 'engine-failed',
    });
  });

  it.each<[string, Action, string]>([
    ['is unexpected', { crash: 'the secret of the engine' }, 'the secret of the engine'],
    ['breaks the contract', toolStarted(0, 0, 5 as never), 'the name of a tool is not a string'],
  ])('is engine-failed when it %s, and the log has the cause', async (_what, action, cause) => {
    const problem = await failedOf([...begun, action]);
    expect(problem).toMatchObject({ status: 500, code: 'engine-failed' });
    expect(JSON.stringify(problem)).not.toContain('secret');
    const lines = () => service.log.filter(({ id, engine }) => id === problem.instance && engine === undefined);
    await expect.poll(lines).toMatchObject([
      {
        level: 50,
        operation: 'streamChat',
        code: 'engine-failed',
        err: { message: expect.stringContaining(cause) as string },
      },
      { level: 30, msg: 'request', status: 200 },
    ]);
  });

  it('stops an engine that continues after its result', async () => {
    const { events } = await streamed([...hello, content(0, 'More!'), completed('More!'), { crash: 'after all' }]);
    expectGuarantees(events);
    expect(events.at(-1)).toMatchObject({ type: 'chat.completed', result: { content: 'Hello.' } });
  });
});

describe('the status of a stream', () => {
  it('waits for the provider, up to the delay', async () => {
    const asked = performance.now();
    using stream = await openStream(service.url, chatOf([stepStarted(0), { wait: 'signal' }]));
    expect(performance.now() - asked).toBeGreaterThan(holdMs - 20);
    await expect.poll(() => stream.events.map(({ type }) => type)).toEqual(['chat.started', 'step.started']);
  });

  it.each<[string, Script]>([
    ['reasoning', [stepStarted(0), reasoning(0, 'Hm')]],
    ['content', [stepStarted(0), content(0, 'Hi')]],
    ['a call', [stepStarted(0), toolStarted(0, 0)]],
    ['a second step', [stepStarted(0), stepStarted(1)]],
  ])('is there with the first sign of the provider: %s', async (_what, script) => {
    await using patient = await startTestService({ ...scripted, streamHoldMs: 60_000 });
    using stream = await openStream(patient.url, chatOf([...script, { wait: 'signal' }]));
    expect(stream.status).toBe(200);
  });
});

describe('an unsupported method', () => {
  it.each(
    Object.values(paths).flatMap((path) => ['GET', 'HEAD', 'PUT', 'DELETE'].map((method) => [method, path] as const)),
  )('is 405: %s %s', async (method, path) => {
    const { status, headers } = await api.send(method, path);
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('POST');
  });
});

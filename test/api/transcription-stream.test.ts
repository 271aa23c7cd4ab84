/** POST /api/v1/transcribe/stream over one scripted engine: what goes over the wire, and when. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApi, type Api } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import {
  formOf,
  goodMorning,
  result,
  scripted,
  segment,
  timed,
  wire,
  type Action,
  type Script,
} from '../transcription/support/script.ts';
import {
  expectGuarantees,
  openStream,
  path,
  readStream,
  typesOf,
  type EventOf,
} from '../transcription/support/stream.ts';
import { eventually } from './support/eventually.ts';
import { multipartType } from './support/forms.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService({ ...scripted, streamHoldMs: 60_000 });
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

async function start(options: TestServiceOptions = {}): Promise<TestService> {
  const own = await startTestService({ ...scripted, ...options });
  onTestFinished(() => own[Symbol.asyncDispose]());
  return own;
}

const said = ({ log }: TestService, message: string) => log.filter(({ msg }) => msg === message);

async function streamed(script: Script, fields: Readonly<Record<string, string>> = {}) {
  const { answer, events } = await readStream(service.url, formOf(script, fields));
  expectGuarantees(events);
  return { answer, events };
}

describe('a stream', () => {
  it('shows segments and progress, and ends with the result', async () => {
    const { answer, events } = await streamed(goodMorning);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(events).toEqual([
      { type: 'transcription.started', seq: 0, id: answer.headers.get('x-request-id'), model: 'words' },
      { type: 'segment.created', seq: 1, segment: wire.segments[0] },
      { type: 'transcription.progress', seq: 2, processed_ms: 1500, duration_ms: 1500 },
      { type: 'transcription.completed', seq: 3, result: { ...wire.plain, model: 'words' } },
    ]);
  });

  it.each(['none', 'segment', 'word'])('has the result of POST /transcribe (timestamps=%s)', async (timestamps) => {
    const { events } = await streamed(goodMorning, { timestamps });
    const plain = await api.send('POST', '/api/v1/transcribe', formOf(goodMorning, { timestamps }));
    expect((events.at(-1) as EventOf<'transcription.completed'>).result).toEqual(plain.body);
  });

  it('has only two events for an engine that reports nothing', async () => {
    const { events } = await streamed([result(timed)]);
    expect(typesOf(events)).toEqual(['transcription.started', 'transcription.completed']);
  });

  it('has no segments of a model that does not support them', async () => {
    const { events } = await streamed(goodMorning, { model: 'plain' });
    expect(typesOf(events)).toEqual(['transcription.started', 'transcription.progress', 'transcription.completed']);
    expect(said(service, 'began').at(-1)).toMatchObject({ hasSegments: false });
  });

  it('drops progress that does not increase, and nonsense', async () => {
    const progress = ([...values]: readonly unknown[]) => ({ progress: values as [unknown] });
    const script = [[500.9], [200], [NaN], ['x'], [-1], [500]].map(progress);
    const { events } = await streamed([...script, segment(0, 1, 'a'), result(timed)]);
    const progressed = events.filter(({ type }) => type === 'transcription.progress');
    expect(progressed).toEqual([
      { type: 'transcription.progress', seq: expect.any(Number) as unknown, processed_ms: 500 },
    ]);
  });

  it('shows the place in the line, and progress of 0 ms when the wait is over', async () => {
    const places = [2, -1, 'x', 1.5].map((queued) => ({ queued }));
    using stream = await openStream(service.url, formOf([...places, { wait: 'signal' }]));
    await eventually(() => stream.events.slice(1)).toEqual([{ type: 'transcription.queued', seq: 1, ahead: 2 }]);
    const { events } = await streamed([{ queued: 0 }, { queued: null }, ...goodMorning]);
    expect(typesOf(events).at(-1)).toBe('transcription.completed');
  });

  it('does not let a slow reader hold up the engine: the reader misses progress', async () => {
    const own = await start();
    const reports = 80_000; // 9 MB of events; sockets buffer about 3.6 MB of them
    using stream = await openStream(own.url, formOf([{ flood: reports }, segment(0, 1, 'a'), result(timed)]));
    stream.pause();
    await expect.poll(() => said(own, 'produced'), { timeout: 50_000 }).toHaveLength(1);
    stream.resume();
    const events = await stream.all();
    expectGuarantees(events);
    expect(typesOf(events)).toContain('segment.created');
    expect(events.length).toBeLessThan(reports);
  });

  it('shows a segment as soon as it is reported', async () => {
    using stream = await openStream(service.url, formOf([segment(0, 900, 'Good'), { wait: 'signal' }]));
    expect(stream.status).toBe(200);
    await eventually(() => typesOf(stream.events)).toEqual(['transcription.started', 'segment.created']);
  });

  it('has a heartbeat while the engine is silent', async () => {
    const impatient = await start({ streamHoldMs: 0, heartbeatMs: 10 });
    using stream = await openStream(impatient.url, formOf([{ wait: 'signal' }]));
    await eventually(() => stream.comments).toBeGreaterThan(2);
    expect(typesOf(stream.events)).toEqual(['transcription.started']);
  });

  it('is one line in the access log', async () => {
    const { answer } = await streamed(goodMorning);
    const id = answer.headers.get('x-request-id');
    await eventually(() => service.log.filter((line) => line.id === id && line.msg === 'request')).toMatchObject([
      { msg: 'request', operation: 'streamTranscription', status: 200, path },
    ]);
  });

  it('leaves no file behind', async () => {
    await streamed(goodMorning);
    await eventually(() => service.service.disk.used).toBe(0);
    await expect.poll(() => service.leftovers()).toEqual([]);
  });
});

describe('a failure', () => {
  const before: readonly (readonly [string, Action, number, string])[] = [
    ['an engine error', { fail: 'provider-rate-limited', retryAfter: 7 }, 429, 'provider-rate-limited'],
    ['a recording that cannot be decoded', { fail: 'recording-undecodable' }, 422, 'recording-undecodable'],
    ['an unexpected exception', { crash: 'the secret of the engine' }, 500, 'engine-failed'],
    ['an invalid result', { result: { text: 7 } }, 500, 'engine-failed'],
    ['an invalid segment', { segment: { startMs: 1.5, endMs: 2, text: 'x' } }, 500, 'engine-failed'],
  ];

  it.each(before)('before the first report keeps its status: %s', async (_what, action, status, code) => {
    const { answer, events } = await readStream(service.url, formOf([action, result(timed)]));
    expect(events).toEqual([]);
    expect(answer.problem).toMatchObject({ status, code });
    expect(answer.text).not.toContain('secret');
  });

  it.each(before)('after it is transcription.failed: %s', async (_what, action, status, code) => {
    const { answer, events } = await streamed([segment(0, 900, 'Good'), action, result(timed)]);
    expect(answer.status).toBe(200);
    expect(typesOf(events)).toEqual(['transcription.started', 'segment.created', 'transcription.failed']);
    const { problem } = events.at(-1) as EventOf<'transcription.failed'>;
    expect(problem).toMatchObject({ status, code, instance: answer.headers.get('x-request-id') });
    if (code === 'provider-rate-limited') expect(problem.retry_after).toBe(7);
    expect(answer.text).not.toContain('secret');
  });

  it('is transcription.failed when the hold has passed', async () => {
    const { url } = await start({ streamHoldMs: 0, env: { TRANSCRIBE_TIMEOUT: '1' } });
    const { events } = await readStream(url, formOf([{ wait: 'ever' }]));
    expectGuarantees(events);
    expect(events).toMatchObject([
      { type: 'transcription.started' },
      { type: 'transcription.failed', problem: { status: 504, code: 'engine-timeout' } },
    ]);
  });

  it('is engine-failed when segments are out of order', async () => {
    const { events } = await streamed([segment(900, 950, 'b'), segment(100, 200, 'a'), result(timed)]);
    expect(typesOf(events)).toEqual(['transcription.started', 'segment.created', 'transcription.failed']);
    expect(events.at(-1)).toMatchObject({ problem: { code: 'engine-failed' } });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['an unknown model', { model: 'absent' }, 'unknown-model'],
    ['an invalid language', { language: 'english' }, 'invalid-request'],
  ])('of the request is a 422: %s', async (_what, fields, code) => {
    const { status, problem } = await api.send('POST', path, formOf(goodMorning, fields));
    expect({ status, code: problem.code }).toEqual({ status: 422, code });
  });
});

describe('TRANSCRIBE_ENABLED=false', () => {
  it('refuses the request before its body', async () => {
    const { url } = await start({ env: { TRANSCRIBE_ENABLED: 'false' } });
    using connection = await connectRaw(url);
    await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': 1_000_000 }));
    const { status, problem } = await connection.answer('POST', path);
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'transcription-disabled' });
  });
});

describe('a disconnect', () => {
  it.each<[string, Script, TestServiceOptions]>([
    ['after a segment', [segment(0, 900, 'Good'), { wait: 'signal' }], {}],
    ['after the hold', [{ wait: 'signal' }], { streamHoldMs: 0 }],
  ])('ends the engine and everything of the request: %s', async (_what, script, options) => {
    const own = await start(options);
    using stream = await openStream(own.url, formOf(script));
    await eventually(() => said(own, 'began')).toHaveLength(1);
    stream.close();
    await eventually(() => said(own, 'ended')).toHaveLength(1);
    expect(said(own, 'aborted')).toMatchObject([{ reason: 'ClientDisconnected' }]);
    await eventually(() => said(own, 'request')).toMatchObject([{ operation: 'streamTranscription', status: 499 }]);
    await expect.poll(() => own.leftovers()).toEqual([]);
    expect(own.log.filter(({ level }) => level >= 40)).toEqual([]);
  });

  it('before the first event ends it, too', async () => {
    const own = await start({ streamHoldMs: 60_000 });
    const caller = new AbortController();
    const left = expect(
      openStream(own.url, { ...formOf([{ wait: 'signal' }]), signal: caller.signal }),
    ).rejects.toThrow();
    await eventually(() => said(own, 'began')).toHaveLength(1);
    caller.abort();
    await left;
    await eventually(() => said(own, 'ended')).toHaveLength(1);
    await eventually(() => said(own, 'request')).toMatchObject([{ status: 499 }]);
    await expect.poll(() => own.leftovers()).toEqual([]);
  });
});

describe('shutdown', () => {
  it('ends a stream with transcription.failed', async () => {
    const own = await start();
    using stream = await openStream(own.url, formOf([segment(0, 900, 'Good'), { wait: 'signal' }]));
    await Promise.all([own.service.stop(0), stream.all()]);
    expectGuarantees(stream.events);
    expect(stream.events.at(-1)).toMatchObject({
      type: 'transcription.failed',
      problem: { status: 503, code: 'shutting-down' },
    });
  });

  it('keeps the status of a stream that has not started', async () => {
    const own = await start({ streamHoldMs: 60_000 });
    const opening = openStream(own.url, formOf([{ wait: 'signal' }]));
    await eventually(() => said(own, 'began')).toHaveLength(1);
    await Promise.all([own.service.stop(0), opening]);
    expect((await opening).status).toBe(503);
  });
});

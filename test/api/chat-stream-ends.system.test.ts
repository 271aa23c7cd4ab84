/** How a chat in either API ends when the caller disconnects or stops reading, or when the service stops. */
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectGuarantees } from '../chat/support/guarantees.ts';
import {
  chatOf,
  completed,
  content,
  hello,
  scripted,
  stepStarted,
  toolStarted,
  type Action,
  type Script,
} from '../chat/support/script.ts';
import { openStream } from '../chat/support/stream.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type LogLine, type TestService, type TestServiceOptions } from '../support/service.ts';
import { waitedMs } from '../support/stopwatch.ts';
import { eventually } from './support/eventually.ts';

const json = { 'content-type': 'application/json' };
const limitMs = 250;

interface Variant {
  readonly path: string;
  /** Fields of the body beside the messages. */
  readonly fields?: object;
}

const variants: Readonly<Record<string, Variant>> = {
  'plain native': { path: '/api/v1/chat' },
  'streaming native': { path: '/api/v1/chat/stream' },
  'plain OpenAI': { path: '/v1/chat/completions' },
  'streaming OpenAI': { path: '/v1/chat/completions', fields: { stream: true } },
};

/** Resolves with the text of the answer. */
async function post(
  service: TestService,
  { path, fields }: Variant,
  call: { readonly script: Script; readonly signal?: AbortSignal },
): Promise<string> {
  const body = JSON.stringify({ ...chatOf(call.script), ...fields });
  const init = { method: 'POST', headers: json, body, ...(call.signal && { signal: call.signal }) };
  return (await fetch(`${service.url}${path}`, init)).text();
}

async function start(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({ ...scripted, ...options });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const said = ({ log }: TestService, message: string) => log.filter(({ msg }) => msg === message);
/** The one such line of the log, which must be written within the limit, whenever we come to read it. */
async function inTime(service: TestService, message: string): Promise<LogLine> {
  const [from, waitedBefore] = [Date.now(), waitedMs()];
  await eventually(() => said(service, message)).toHaveLength(1);
  const [line] = said(service, message);
  // The service has this thread, too: that others had the processor is no fault of it.
  expect(Number(line!.time) - from - (waitedMs() - waitedBefore)).toBeLessThan(limitMs);
  return line!;
}
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);

const waiting: Action = { wait: 'signal' };
const begun = [stepStarted(0), content(0, 'Hel')];

describe.each(Object.entries(variants))('a caller of the %s variant that leaves', (_name, variant) => {
  it.each<[string, Script]>([
    ['before the provider has answered', [stepStarted(0), waiting]],
    ['while the provider answers', [...begun, waiting]],
    ['while tools run', [...begun, toolStarted(0, 0), toolStarted(0, 1), waiting]],
  ])('ends the run %s', async (_when, script) => {
    const service = await start();
    const caller = new AbortController();
    const left = expect(post(service, variant, { script, signal: caller.signal })).rejects.toThrow();
    await eventually(() => said(service, 'began')).toHaveLength(1);
    caller.abort();
    expect(await inTime(service, 'aborted')).toMatchObject({ reason: 'ClientDisconnected' });
    await inTime(service, 'ended');
    expect(await inTime(service, 'request')).toMatchObject({ status: 499 });
    await left;
    expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
  });

  it('leaks nothing when the engine ignores its signal', async () => {
    const service = await start();
    const caller = new AbortController();
    const script: Script = [...begun, { wait: 'ever' }];
    const left = expect(post(service, variant, { script, signal: caller.signal })).rejects.toThrow();
    await eventually(() => said(service, 'began')).toHaveLength(1);
    caller.abort();
    await inTime(service, 'aborted');
    expect(await inTime(service, 'request')).toMatchObject({ status: 499 });
    await left;
    await service.service.stop(0);
    expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
  });

  it('after the end cancels nothing', async () => {
    const service = await start();
    await post(service, variant, { script: hello });
    await eventually(() => said(service, 'ended')).toHaveLength(1);
    await service.service.stop(0);
    expect(said(service, 'aborted')).toEqual([]);
    expect(said(service, 'request')).toMatchObject([{ status: 200 }]);
  });
});

describe('a reader that stops reading', () => {
  const blocks = 600;
  /** More than a result may have, so a second step ends the run. */
  const long = [stepStarted(0), { flood: blocks }, stepStarted(1), completed('')];
  const produced = (service: TestService) => said(service, 'produced').length;

  /** Resolves once the engine has been still for a while, with what it has produced. */
  async function stalled(service: TestService): Promise<number> {
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = produced(service) > 0 && produced(service) === before;
          before = produced(service);
          return isStill;
        },
        { timeout: 20_000, interval: 400 },
      )
      .toBe(true);
    return before;
  }

  it('pauses the engine, gets no heartbeats meanwhile, and can resume', async () => {
    const service = await start({ heartbeatMs: 10 });
    using stream = await openStream(service.url, chatOf(long));
    stream.pause();
    // What is under way is in the buffers of two sockets, which the kernel bounds.
    expect(await stalled(service)).toBeLessThan(blocks / 2);
    expect(stream.comments).toBeLessThan(10);
    stream.resume();
    const events = await stream.all();
    expectGuarantees(events);
    expect(events.at(-1)?.type).toBe('chat.completed');
    expect(events.filter(({ type }) => type === 'content.delta')).toHaveLength(blocks);
    expect(stream.comments).toBeLessThan(20);
    expect(said(service, 'aborted')).toEqual([]);
  });

  it('pauses the engine through the OpenAI-compatible API, too', async () => {
    const service = await start();
    const { path } = variants['streaming OpenAI']!;
    const sending = request(`${service.url}${path}`, { method: 'POST', agent: false, headers: json });
    sending.end(JSON.stringify({ ...chatOf(long), stream: true }));
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sending.once('response', resolve).once('error', reject);
    });
    expect(await stalled(service)).toBeLessThan(blocks / 2);
    const events = (await text(answer)).trim().split('\n\n');
    expect(events.filter((event) => event.includes('"content":"x'))).toHaveLength(blocks);
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(said(service, 'aborted')).toEqual([]);
  });

  it('and disconnects cancels the run', async () => {
    const service = await start();
    using stream = await openStream(service.url, chatOf(long));
    stream.pause();
    await stalled(service);
    stream.close();
    expect(await inTime(service, 'aborted')).toMatchObject({ reason: 'ClientDisconnected' });
    await inTime(service, 'ended');
    expect(await inTime(service, 'request')).toMatchObject({ status: 499 });
  });

  it('does not block the shutdown', async () => {
    const service = await start();
    using stream = await openStream(service.url, chatOf(long));
    stream.pause();
    await stalled(service);
    const asked = performance.now();
    await service.service.stop(100);
    expect(performance.now() - asked).toBeLessThan(3_000);
    expect(said(service, 'aborted')).toMatchObject([{ reason: 'ProblemError' }]);
  });
});

describe('shutdown', () => {
  it('ends a stream with chat.failed and a non-streaming request with 503', async () => {
    const service = await start();
    using stream = await openStream(service.url, chatOf([...begun, waiting]));
    const plain = createApi(service.url).post('/api/v1/chat', chatOf([...begun, waiting]));
    await eventually(() => said(service, 'began')).toHaveLength(2);
    await Promise.all([service.service.stop(50), plain]);

    const events = await stream.all();
    expectGuarantees(events);
    expect(types(events)).toEqual(['chat.started', 'step.started', 'content.delta', 'chat.failed']);
    expect(events.at(-1)).toMatchObject({ problem: { status: 503, code: 'shutting-down' } });
    expect(await plain).toMatchObject({ status: 503, problem: { code: 'shutting-down' } });
    expect(said(service, 'aborted')).toHaveLength(2);
    await eventually(() => said(service, 'ended')).toHaveLength(2);
    expect(said(service, 'a request failed')).toMatchObject([{ code: 'shutting-down' }, { code: 'shutting-down' }]);
  });

  it('keeps the status of a stream that has not started', async () => {
    const service = await start();
    const opening = openStream(service.url, chatOf([stepStarted(0), waiting]));
    await eventually(() => said(service, 'began')).toHaveLength(1);
    await Promise.all([service.service.stop(50), opening]);
    expect((await opening).status).toBe(503);
  });

  it('waits for a stream that ends in time', async () => {
    const service = await start();
    using stream = await openStream(service.url, chatOf([...begun, { wait: 200 }, completed('Hel')]));
    await Promise.all([service.service.stop(10_000), stream.all()]);
    expect(stream.events.at(-1)?.type).toBe('chat.completed');
    expect(said(service, 'aborted')).toEqual([]);
  });
});

describe('a client that half-closes the connection', () => {
  it.each(Object.entries(variants))('counts as disconnected: %s', async (_name, { path, fields }) => {
    const service = await start();
    const body = JSON.stringify({ ...chatOf([...begun, waiting]), ...fields });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await eventually(() => said(service, 'began')).toHaveLength(1);
    socket.end();
    await inTime(service, 'aborted');
  });
});

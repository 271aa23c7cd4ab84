/** Requests for what another front has. That front, the owner, answers what the test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ignore } from '../../lib/errors.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { nativeContract } from '../../src/contract/document.ts';
import type { ForwardedRequest } from '../../src/contract/forwarding.ts';
import { createForward } from '../../src/fleet/forward.ts';
import { createVerifier, sign } from '../../src/fleet/signature.ts';
import { fleetTimeouts } from '../../src/fleet/timeouts.ts';
import { runInScope, type Key } from '../../src/request-scope.ts';

const secret = 's'.repeat(32);
const id = `01234567.${'A'.repeat(22)}`;
const unreachable = { code: 'overloaded', headers: { 'Retry-After': '5' } };

type Asked = Partial<Omit<ForwardedRequest, 'responses'>> & { readonly operation?: string };

const clip = { owned: 'clip', operation: 'getSpeechClip', target: `/api/v1/tts/clips/${id}?` } as const;
const job = {
  owned: 'transcription',
  operation: 'getTranscriptionJob',
  target: `/api/v1/transcriptions/${id}?`,
} as const;
const events = { ...job, operation: 'streamTranscriptionJob', target: `/api/v1/transcriptions/${id}/events?` } as const;

let answer: (req: IncomingMessage, res: ServerResponse) => void;
let asked: IncomingMessage[];
let address: string;
let known: () => Promise<string | undefined>;

beforeEach(async () => {
  asked = [];
  const server = createServer((req, res) => {
    asked.push(req);
    answer(req, res);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  known = () => Promise.resolve(address);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
});

function forward({ operation = clip.operation, ...request }: Asked = {}, own: Partial<typeof fleetTimeouts> = {}) {
  const http = createHttpClient({});
  onTestFinished(() => http[Symbol.asyncDispose]());
  const send = createForward({
    ...{ isOwn: (tag) => tag === '89abcdef', addressOf: () => known(), http },
    sign: (signed) => sign(secret, signed, Date.now()),
    timeouts: { ...fleetTimeouts, ...own },
  });
  const { responses } = nativeContract.operations.get(operation)!;
  const { signal } = new AbortController();
  return send({ ...clip, id, method: 'GET', headers: {}, signal, responses, ...request });
}

function closeOf({ socket }: IncomingMessage): Promise<unknown> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => void socket.on('close', resolve));
}

const audio = { 'content-type': 'audio/mpeg' };

describe('a request for what another front has', () => {
  it('arrives as it was sent, signed, with the name of the key and the id instead of the token', async () => {
    answer = (_req, res) => res.writeHead(204).end();
    const requestId = '6f1b0f0e-5d0c-4b52-9a55-3c4b5a3d1f6e';
    const scope = {
      ...{ caller: 'app', id: requestId, key: { name: 'app' } as Key },
      trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 },
    };
    const target = `${job.target}format=srt&x=\u00e9"`;
    const request = {
      ...job,
      operation: 'deleteTranscriptionJob',
      target,
      method: 'DELETE',
      headers: { Prefer: 'wait=1' },
    };
    expect(await runInScope(scope, forward, request)).toMatchObject({ status: 204, body: undefined });
    const { method, url, headers } = asked[0]!;
    expect([method, url]).toEqual(['DELETE', `${job.target}format=srt&x=%C3%A9%22`]);
    expect(headers).toMatchObject({
      'x-parlance-key': 'app',
      'x-request-id': requestId,
      prefer: 'wait=1',
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    });
    const signed = { method: 'DELETE', url: `${address}${url}` };
    const verify = createVerifier(secret);
    expect(verify({ ...signed, key: 'admin' }, headers.authorization, Date.now())).toBe('invalid');
    expect(verify(signed, headers.authorization, Date.now())).toBe('invalid');
    expect(verify({ ...signed, key: 'app' }, headers.authorization, Date.now())).toBe('valid');
  });

  it('is answered with the bytes and the declared headers of the owner', async () => {
    answer = (req, res) => {
      const signed = { method: 'GET', url: `${address}${req.url}` };
      expect(createVerifier(secret)(signed, req.headers.authorization, Date.now())).toBe('valid');
      const foreign = { 'set-cookie': 'a=b', 'access-control-allow-origin': '*', 'x-request-id': 'other' };
      res.writeHead(206, { ...audio, ...foreign, etag: '"e"', 'content-range': 'bytes 1-4/9', 'content-length': 4 });
      res.end(Buffer.from([0, 255, 10, 128]));
    };
    const { body, ...head } = (await forward({ headers: { Range: 'bytes=1-4' } }))!;
    const headers = { ETag: '"e"', 'Content-Range': 'bytes 1-4/9', 'Content-Length': '4' };
    expect(head).toEqual({ status: 206, mediaType: 'audio/mpeg', headers, isForwarded: true });
    expect(await buffer(body as Readable)).toEqual(Buffer.from([0, 255, 10, 128]));
    expect(asked[0]!.headers.range).toBe('bytes=1-4');
  });

  it("fails with the owner's problem", async () => {
    answer = (_req, res) => {
      const type = { 'content-type': 'application/problem+json; charset=utf-8' };
      res.writeHead(416, { ...type, 'content-range': 'bytes */9', 'set-cookie': 'a=b' });
      res.end(JSON.stringify({ code: 'range-not-satisfiable', detail: 'Too far.' }));
    };
    const problem = { code: 'range-not-satisfiable', message: 'Too far.', headers: { 'Content-Range': 'bytes */9' } };
    await expect(forward()).rejects.toMatchObject(problem);
  });
});

describe('the owner cannot be reached when', () => {
  const problem = { 'content-type': 'application/problem+json' };
  const document = (value: object) => JSON.stringify({ code: 'clip-not-found', detail: 'Gone.', ...value });
  it.each<[string, (res: ServerResponse) => void]>([
    ['refuses the signature', (res) => res.writeHead(401).end()],
    ['is no Parlance', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<script>')],
    [
      'sends a type that is a property of objects',
      (res) => res.writeHead(200, { 'content-type': 'constructor' }).end(),
    ],
    ['sends no type', (res) => res.writeHead(200).end('x')],
    ['redirects', (res) => res.writeHead(302, { location: 'http://example.com/' }).end()],
    ['sends a problem of another status', (res) => res.writeHead(500, problem).end(document({}))],
    ['sends an unknown problem', (res) => res.writeHead(404, problem).end(document({ code: 'toString' }))],
    ['sends a problem without text', (res) => res.writeHead(404, problem).end(document({ detail: 1 }))],
    ['sends a problem that is no JSON', (res) => res.writeHead(404, problem).end('<html>')],
    ['breaks off', (res) => res.destroy()],
    ['breaks off within a problem', (res) => void res.writeHead(404, problem).write('{', () => res.destroy())],
  ])('it %s', async (_what, reply) => {
    answer = (_req, res) => reply(res);
    await expect(forward()).rejects.toMatchObject(unreachable);
  });

  it('its problem does not end', async () => {
    answer = (_req, res) => {
      const more = () => void res.write(' '.repeat(1_000), (error) => (error ? undefined : more()));
      res.on('error', ignore);
      res.writeHead(404, problem);
      more();
    };
    await expect(forward()).rejects.toMatchObject(unreachable);
    await closeOf(asked[0]!);
  });

  it('it is silent, but for longer where it may wait for the end of the work', async () => {
    let reply: ServerResponse;
    answer = (_req, res) => void (reply = res);
    const brief = { silenceMs: 20, clipMs: 60_000 };
    await expect(forward({}, brief)).rejects.toMatchObject(unreachable);
    const waiting = forward({ headers: { Range: 'bytes=0-1' } }, brief);
    await expect.poll(() => asked).toHaveLength(2);
    await expect(forward({}, brief)).rejects.toMatchObject(unreachable); // as long as the first one
    reply!.writeHead(404);
    asked[1]!.socket.destroy();
    await expect(waiting).rejects.toMatchObject(unreachable);
  });

  it('Redis does not say where it is', async () => {
    known = () => Promise.reject(new Error('away'));
    await expect(forward()).rejects.toMatchObject(unreachable);
  });
});

describe('an owner that is lost within its answer', () => {
  const lost = (head: Record<string, string>) => {
    answer = (_req, res) => void res.writeHead(200, head).write('begun', () => res.destroy());
  };

  it('breaks a clip', async () => {
    lost(audio);
    await expect(text((await forward())!.body as Readable)).rejects.toMatchObject({ code: 'clip-not-found' });
  });

  it('breaks a clip that is shorter than announced', async () => {
    answer = (_req, res) =>
      void res.writeHead(200, { ...audio, 'content-length': 9 }).write('1234', () => res.destroy());
    await expect(text((await forward())!.body as Readable)).rejects.toMatchObject({ code: 'clip-not-found' });
  });

  it('cannot be reached for a transcription', async () => {
    lost({ 'content-type': 'application/json' });
    await expect(text((await forward(job))!.body as Readable)).rejects.toMatchObject(unreachable);
  });

  it('ends an event stream, which its reader resumes', async () => {
    lost({ 'content-type': 'text/event-stream' });
    expect(await text((await forward(events))!.body as Readable)).toBe('begun');
  });

  it('is noticed by its silence', async () => {
    answer = (_req, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write('begun');
    expect(await text((await forward(events, { silenceMs: 50 }))!.body as Readable)).toBe('begun');
    answer = (_req, res) => void res.writeHead(200, audio).write('begun');
    await expect(text((await forward({}, { clipMs: 50 }))!.body as Readable)).rejects.toMatchObject({
      code: 'clip-not-found',
    });
  });
});

describe('the reader of a forwarded answer', () => {
  let sent: number;
  /** Resolves when the owner has to wait for the reader. */
  let held: PromiseWithResolvers<undefined>;
  const endless = (_req: IncomingMessage, res: ServerResponse) => {
    [sent, held] = [0, Promise.withResolvers()];
    const more = () => {
      do sent += 65_536;
      while (res.write(Buffer.alloc(65_536)));
      held.resolve(undefined);
    };
    res.writeHead(200, audio).on('drain', more).on('error', ignore);
    more();
  };
  /** Takes longer than the silence after which an owner counts as lost. */
  async function aWhile(): Promise<void> {
    answer = () => {};
    await expect(forward({}, { silenceMs: 50 })).rejects.toMatchObject(unreachable);
  }

  it('holds its owner up, without counting it as lost', async () => {
    answer = endless;
    const body = (await forward({}, { clipMs: 50 }))!.body as Readable;
    await held.promise;
    await aWhile();
    const before = sent;
    await aWhile();
    expect(sent).toBe(before);
    let read = 0;
    for await (const piece of body) if ((read += (piece as Buffer).length) > before) break;
    expect(sent).toBeGreaterThan(before);
  });

  it.each([
    ['stops', (body: Readable) => body.destroy()],
    ['disconnects', (_body: Readable, caller: AbortController) => caller.abort(new Error('left'))],
  ])('ends it when it %s, at once', async (_how, end) => {
    answer = endless;
    const caller = new AbortController();
    const body = (await forward({ signal: caller.signal }))!.body as Readable;
    body.on('error', ignore).resume();
    const closed = closeOf(asked[0]!);
    end(body, caller);
    await closed;
  });

  it('ends it before it has read anything, as for HEAD', async () => {
    answer = (_req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const body = (await forward(events))!.body as Readable;
    const closed = closeOf(asked[0]!);
    body.destroy();
    await closed;
  });

  it('does not end a deletion', async () => {
    const caller = new AbortController();
    answer = (_req, res) => {
      caller.abort(new Error('left'));
      res.writeHead(204).end();
    };
    const request = { operation: 'deleteSpeechClip', method: 'DELETE', signal: caller.signal };
    expect(await forward(request)).toMatchObject({ status: 204 });
  });

  it('ends it before its head', async () => {
    const caller = new AbortController();
    answer = () => caller.abort(new Error('left'));
    await expect(forward({ signal: caller.signal })).rejects.toThrow();
    await closeOf(asked[0]!);
  });
});

describe('this front answers', () => {
  it.each([
    ['without a tag', 'A'.repeat(22)],
    ['of this front', `89abcdef.${'A'.repeat(22)}`],
    ['with an address for a tag', `10.0.0.5.${'A'.repeat(22)}`],
    ['with more than one tag', `01234567.01234567.${'A'.repeat(22)}`],
  ])('for an id %s', async (_what, odd) => {
    expect(await forward({ id: odd })).toBeUndefined();
    expect(await forward({ ...job, id: odd })).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('for the clips of a front that is gone, but not for its transcriptions, with which it may return', async () => {
    known = () => Promise.resolve(undefined);
    expect(await forward()).toBeUndefined();
    await expect(forward(job)).rejects.toMatchObject(unreachable);
  });
});

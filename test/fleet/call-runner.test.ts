/** A worker, with a front of the test's own. */
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError, type Logger, type Transcript, type TranscriptionEngine } from '../../engines/contract/index.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { fleetTimeouts } from '../../src/fleet/timeouts.ts';
import { sealTicket, skewMs } from '../../src/fleet/ticket.ts';
import { createCallRunner } from '../../src/fleet/call-runner.ts';
import { currentUsage } from '../../src/request-scope.ts';
import type { AccountedDirectory } from '../../src/system/workspace.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const timeouts = { ...fleetTimeouts, heartbeatMs: 10, silenceMs: 10_000 };
const transcript = { text: 'Hello.', language: 'en' };
const log: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const call = { instance: 'local', call: { model: 'm' }, recording: { bytes: 3 }, segments: false, scope: {} };
const firstLine = `${JSON.stringify({ type: 'call', call })}\n`;

/** A worker with a ticket of the front; how its call ended, and the directory of the recording. */
async function work(
  front: RequestListener,
  transcribe = (): Promise<Transcript> => Promise.resolve(transcript),
  lifeMs = 60_000,
) {
  const server = createServer(front);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = createHttpClient({});
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await http[Symbol.asyncDispose]();
  });
  const path = await temporaryDirectory();
  const directory = { path, account: { take: () => {} }, [Symbol.asyncDispose]: () => Promise.resolve() };
  const run = createCallRunner({
    ...{
      id: 'worker',
      secret: 'secret',
      http,
      timeouts,
      log,
      sign: () => 'signed',
      stopping: new AbortController().signal,
    },
    engineOf: () => ({ transcribe }) as unknown as TranscriptionEngine,
    workspace: { accountedDirectory: () => Promise.resolve(directory as unknown as AccountedDirectory) },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/call`;
  const ends: string[] = [];
  const warnings: object[] = [];
  log.warn = (fields) => void warnings.push(fields);
  const ticket = sealTicket('secret', url, Date.now() - skewMs + lifeMs);
  const take = () => run(ticket, { report: (end) => void ends.push(end), isPaused: false });
  return { url, path, ends, warnings, take, done: take() };
}

/** Nothing, for a file that was not opened in time. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}

test('a result that takes longer than the heartbeat interval arrives whole', async () => {
  const long = 'word '.repeat(4_000_000); // more than sockets buffer
  const sent = Promise.withResolvers<string>();
  const transcribed = Promise.withResolvers<undefined>();
  const front: RequestListener = (req, res) => {
    if (req.method === 'GET') return void res.end('wav');
    res.writeHead(200).write(firstLine);
    // The worker has sent its result, and signs would be due, before anything is read.
    const read = async () => {
      await transcribed.promise;
      await sleep(20 * timeouts.heartbeatMs);
      sent.resolve(await text(req));
      res.end();
    };
    read().catch(sent.reject);
  };
  const { done, ends } = await work(front, () => {
    transcribed.resolve(undefined);
    return Promise.resolve({ ...transcript, text: long });
  });

  const messages = (await sent.promise).trim().split('\n').filter((line) => line !== ''); // prettier-ignore
  expect(JSON.parse(messages.at(-1)!)).toEqual({ type: 'result', transcript: { text: long, language: 'en' } });
  await done;
  expect(ends).toEqual(['done']);
});

test('a result has the part of the recording that is not charged', async () => {
  const sent = Promise.withResolvers<string>();
  const front: RequestListener = (req, res) => {
    if (req.method === 'GET') return void res.end('wav');
    res.writeHead(200).write(firstLine);
    text(req)
      .then(sent.resolve, sent.reject)
      .finally(() => res.end());
  };
  const { done } = await work(front, () => {
    currentUsage()!.gapMs = 10_000; // as `decode` of the context does
    return Promise.resolve(transcript);
  });
  const last = (await sent.promise).trim().split('\n').at(-1)!;
  expect(JSON.parse(last)).toEqual({ type: 'result', transcript, gapMs: 10_000 });
  await done;
});

describe('another program at the address of a front', () => {
  test.each([
    ['more', (res: ServerResponse) => void setInterval(() => res.write('wave'), 1).unref()],
    ['less', (res: ServerResponse) => void res.end('wa')],
  ])('sends %s than the announced recording: the ticket is dropped', async (_what, send) => {
    const { path, done, ends } = await work((req, res) => {
      if (req.method === 'GET') return send(res);
      res.writeHead(200).write(firstLine);
    });
    await done;
    expect(ends).toEqual([]);
    expect(await sizeOf(join(path, 'recording'))).toBeLessThanOrEqual(call.recording.bytes);
  });

  test('that keeps the connection open is abandoned when the ticket has expired', async () => {
    const { done, ends } = await work(
      (_req, res) => {
        res.writeHead(200);
        setInterval(() => res.write('{"type":"alive"}\n'), timeouts.heartbeatMs).unref();
      },
      undefined,
      200,
    );
    await done;
    expect(ends).toEqual([]);
  });
});

test.each([
  ['its disk is full', Object.assign(new Error('write'), { code: 'ENOSPC' }), 'returned', 'storage-full'],
  ['its engine fails', new EngineError('engine-failed', 'Broken.'), 'failed', 'engine-failed'],
  ['the recording is broken', new EngineError('recording-undecodable', 'Broken.'), 'done', 'recording-undecodable'],
])('says how a call has ended: %s', async (_what, failure, end, code) => {
  const sent = Promise.withResolvers<string>();
  const front: RequestListener = (req, res) => {
    if (req.method === 'GET') return void res.end('wav');
    res.writeHead(200).write(firstLine);
    text(req).then(sent.resolve, sent.reject).finally(() => res.end()); // prettier-ignore
  };
  const { done, ends } = await work(front, () => Promise.reject(failure));
  const last = JSON.parse((await sent.promise).trim().split('\n').at(-1)!) as { type: string; worker?: string };
  expect(last).toMatchObject({ code, ...(end === 'returned' && { type: 'returned', worker: 'worker' }) });
  await done;
  expect(ends).toEqual([end]);
});

test('warns once with both times when a front rejects the worker because of its clock, and returns such calls', async () => {
  const { url, ends, warnings, take, done } = await work((_req, res) => {
    res.writeHead(401, { date: new Date(Date.now() + 180_000).toUTCString() }).end();
  });
  await done;
  await take();
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
  expect(warnings).toEqual([{ peer: new URL(url).origin, theirs: time, ours: time }]);
  expect(ends).toEqual(['returned', 'returned']);
});

/** A worker, with a front of the test's own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { TranscriptionEngine } from '../../engines/contract/index.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { fleetLimits } from '../../src/fleet/limits.ts';
import { createWorker } from '../../src/fleet/worker.ts';
import type { AccountedDirectory } from '../../src/system/workspace.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const limits = { ...fleetLimits, signMs: 10, silenceMs: 10_000 };
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('a result that takes longer than the next sign of life arrives whole', async () => {
  const long = 'word '.repeat(4_000_000); // more than sockets buffer
  const sent = Promise.withResolvers<string>();
  const call = { instance: 'local', call: { model: 'm' }, recording: { bytes: 3 }, segments: false, scope: {} };
  const server = createServer((req, res) => {
    if (req.method === 'GET') return void res.end('wav');
    res.writeHead(200).write(`${JSON.stringify({ type: 'call', call })}\n`);
    // The worker has sent its result, and signs would be due, before anything is read.
    const read = async () => {
      await transcribed.promise;
      await sleep(20 * limits.signMs);
      sent.resolve(await text(req));
      res.end();
    };
    read().catch(sent.reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = createHttpClient({});
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await http[Symbol.asyncDispose]();
  });

  const transcribed = Promise.withResolvers<undefined>();
  const engine = {
    transcribe: () => {
      transcribed.resolve(undefined);
      return Promise.resolve({ text: long, language: 'en' });
    },
  } as unknown as TranscriptionEngine;
  const path = await temporaryDirectory();
  const directory = { path, account: { take: () => {} }, [Symbol.asyncDispose]: () => Promise.resolve() };
  const run = createWorker({
    ...{ http, limits, log, sign: () => 'signed', stopping: new AbortController().signal },
    engineOf: () => engine,
    workspace: { accountedDirectory: () => Promise.resolve(directory as unknown as AccountedDirectory) },
  });
  const { port } = server.address() as AddressInfo;
  const done = run({ v: 1, url: `http://127.0.0.1:${port}/call`, expires: Date.now() + 60_000, mac: '' });

  const messages = (await sent.promise).trim().split('\n').filter((line) => line !== ''); // prettier-ignore
  expect(JSON.parse(messages.at(-1)!)).toEqual({ type: 'result', transcript: { text: long, language: 'en' } });
  expect(await done).toBe(true);
});

/** Uploads and decoded sound share the disk budget: one caller cannot take it all, and everything is released. */
import { ServerResponse, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { nativeContract } from '../../src/contract/document.ts';
import { ByteBudget, type RefusableBody } from '../../src/http/body/body-budget.ts';
import { readForm } from '../../src/http/body/multipart.ts';
import { broken, echo, patient } from '../api/support/engines.ts';
import { multipart, multipartType, part, recording } from '../api/support/forms.ts';
import { connectRaw, requestHead, type RawConnection } from '../api/support/raw-socket.ts';
import { decoders, upload } from '../support/local-service.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { toneWav } from '../support/tone-model.ts';

const path = '/api/v1/transcribe';
const patience = { timeout: 10_000, interval: 10 };
const budget = 4 * 1024 * 1024;

async function start(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({ ...options, env: { DISK_BUDGET: String(budget), ...options.env } });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const used = ({ service }: TestService) => service.disk.used;

async function nothingIsLeft(service: TestService): Promise<void> {
  await expect.poll(() => used(service), patience).toBe(0);
  await expect.poll(() => service.leftovers(), patience).toEqual([]);
}

/** An upload that stops before its end. */
async function holdUpload(service: TestService, bytes: number, localAddress: string): Promise<RawConnection> {
  const connection = await connectRaw(service.url, { localAddress });
  onTestFinished(() => connection[Symbol.dispose]());
  const beginning = part({ ...recording, value: Buffer.alloc(bytes, recording.value) }).subarray(0, -2);
  await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': 2 * beginning.length }));
  await connection.send(beginning);
  return connection;
}

async function uploadFrom(service: TestService, localAddress: string) {
  using connection = await connectRaw(service.url, { localAddress });
  const body = multipart(recording);
  await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': body.length }));
  await connection.send(body);
  return await connection.answer('POST', path);
}

test('open uploads of one caller take at most half, and another caller is served', async () => {
  const service = await start(echo);
  const held: RawConnection[] = [];
  const refused: RawConnection[] = [];
  for (let i = 0; i < 40; i++) {
    const before = used(service);
    const connection = await holdUpload(service, 100_000, '127.0.0.1');
    const outcome = () => connection.received !== '' || used(service) > before + 100_000;
    await expect.poll(outcome, patience).toBe(true);
    (connection.received === '' ? held : refused).push(connection);
  }
  expect(held).toHaveLength(20);
  for (const connection of refused) {
    const { status, headers, problem } = await connection.answer('POST', path);
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'storage-full' });
    expect(problem.retry_after).toBe(30);
    expect(headers.get('retry-after')).toBe('30');
  }
  expect(used(service)).toBeLessThanOrEqual(budget / 2);
  expect((await uploadFrom(service, '127.0.0.2')).status).toBe(200);
  for (const connection of held) connection[Symbol.dispose]();
  await nothingIsLeft(service);
  expect((await uploadFrom(service, '127.0.0.1')).status).toBe(200);
});

test('an upload is rejected while it arrives, and its bytes are released', async () => {
  const service = await start(echo);
  const response = await upload(service, Buffer.alloc(3 * 1024 * 1024, recording.value));
  expect(await response.json()).toMatchObject({ status: 503, code: 'storage-full', retry_after: 30 });
  await nothingIsLeft(service);
});

test('the bytes of an upload are taken before any of them is parsed, and so before they are written', async () => {
  const body = multipart(recording);
  const req = Object.assign(Readable.from([body]), {
    headers: { ...multipartType, 'transfer-encoding': 'chunked' },
  }) as unknown as IncomingMessage;
  const steps: string[] = [];
  const { signal } = new AbortController();
  const source = {
    req,
    res: new ServerResponse(req),
    signal,
    timeoutMs: 1000,
    arrivals: { watch: () => () => undefined },
    reserve: (body: RefusableBody) => new ByteBudget({ reserve: 65_536, shared: 0 }).reserve('somebody', body),
  };
  const account = {
    take(bytes: number) {
      steps.push(`take ${bytes}`);
      throw new Error('no space');
    },
    [Symbol.dispose]: () => undefined,
  };
  const directory = {
    path: '/nonexistent',
    account,
    maxBytes: 26_214_400,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const beforeFile = () => Promise.resolve(void steps.push('admit the file'));
  const rules = { bounds: nativeContract.form, lists: [], beforeFile };
  await expect(readForm(source, directory, rules)).rejects.toThrow('no space');
  expect(steps).toEqual([`take ${body.length}`]);
});

describe('the bytes of an upload are released', () => {
  const send = (service: TestService, body: Buffer) =>
    service.api('/transcribe', { method: 'POST', headers: multipartType, body: new Uint8Array(body) });

  test.each([
    ['succeeds', echo, multipart(recording), 200],
    ['fails in its engine', broken, multipart(recording), 500],
    ['is no recording', echo, multipart({ ...recording, value: 'text' }), 422],
    ['has a field too many', echo, multipart(recording, { ...recording, name: 'second' }), 422],
    ['is cut off', echo, multipart(recording).subarray(0, -20), 422],
  ])('when it %s', async (_how, engine, body, status) => {
    const service = await start(engine);
    expect((await send(service, body)).status).toBe(status);
    await nothingIsLeft(service);
  });

  test('when the client disconnects during the upload', async () => {
    const service = await start(echo);
    const connection = await holdUpload(service, 100_000, '127.0.0.1');
    await expect.poll(() => used(service), patience).toBeGreaterThan(100_000);
    connection[Symbol.dispose]();
    await nothingIsLeft(service);
  });

  test('when the client disconnects during the transcription', async () => {
    const service = await start(patient);
    const caller = new AbortController();
    const leaving = expect(upload(service, recording.value as Buffer, { signal: caller.signal })).rejects.toThrow();
    await expect.poll(() => service.log.some(({ msg }) => msg === 'the engine works'), patience).toBe(true);
    expect(used(service)).toBeGreaterThan(0);
    caller.abort();
    await leaving;
    await nothingIsLeft(service);
  });

  test('when it does not arrive in time', async () => {
    const service = await start({ ...echo, uploadTimeoutMs: 300 });
    const connection = await holdUpload(service, 1000, '127.0.0.1');
    expect((await connection.answer('POST', path)).status).toBe(408);
    await nothingIsLeft(service);
  });
});

describe.each(Object.keys(decoders) as (keyof typeof decoders)[])('audio decoded by %s', (decoder) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      env: { PARLANCE_SANDBOX: '1', DISK_BUDGET: String(budget), ...decoders[decoder] },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('is rejected at the budget, and released', async () => {
    // A megabyte as it comes, and two more once it is decoded.
    const response = await upload(service, toneWav({ words: ['alpha'], rate: 8_000, tailSeconds: 64 }));
    expect(await response.json()).toMatchObject({ status: 503, code: 'storage-full', retry_after: 30 });
    await nothingIsLeft(service);
  });

  test('is released after a transcription', async () => {
    expect((await upload(service, toneWav({ words: ['alpha'], rate: 8_000 }))).status).toBe(200);
    await nothingIsLeft(service);
  });
});

/** Decodes a copy of the recording, in a directory of its own. */
const copyingEngine = `import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
export default {
  contract: 1,
  name: 'copying',
  capability: 'transcription',
  options: {},
  create: (_options, context) => ({
    models: [{ id: 'copy', local: true }],
    async transcribe({ recording }, options) {
      await using directory = await context.temporaryDirectory();
      const path = join(directory.path, 'copy');
      await copyFile(recording.path, path);
      const { endMs: durationMs } = await context.decode({ ...recording, path }, options);
      return { text: 'decoded', language: 'en', durationMs };
    },
  }),
};`;

test("audio that is decoded into an engine's temporary directory counts, too", async () => {
  const service = await start({
    config: 'engines: { copy: { use: ./copying.mjs } }',
    files: { 'copying.mjs': copyingEngine },
  });
  const tooLong = await upload(service, toneWav({ words: ['alpha'], rate: 8_000, tailSeconds: 64 }));
  expect(await tooLong.json()).toMatchObject({ status: 503, code: 'storage-full' });
  await nothingIsLeft(service);
  expect((await upload(service, toneWav({ words: ['alpha'], rate: 8_000 }))).status).toBe(200);
  await nothingIsLeft(service);
});

/** Answers to uploads reach the caller, whatever the client and however early; and nothing of an upload stays. */
import { mkdtemp, readdir, readlink, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApi, heldToContract, type Unchecked } from '../support/http.ts';
import { nextRequest } from '../support/next-request.ts';
import { stopTheDisk } from '../support/slow-disk.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { clients } from './support/clients.ts';
import { broken, echo, patient } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { multipart, multipartType, part, recording, wavHead } from './support/forms.ts';
import { connectRaw, requestHead, type RawConnection } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of megabytes, however busy the machine is

const path = '/api/v1/transcribe';
const megabyte = 1024 * 1024;
const rounds = 2;

let directory: string;

/** A recording by its first bytes, of so many bytes. */
async function file(name: string, bytes: number, head: Buffer = wavHead): Promise<string> {
  const place = join(directory, name);
  await writeFile(place, head);
  await truncate(place, bytes);
  return place;
}

const held = (answer: Unchecked) => heldToContract({ method: 'POST', path }, answer);

let openService: TestService;
/** It is disconnected ten seconds after its answer: the other tests run meanwhile. */
let slowSender: Promise<unknown>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parlance-uploads-'));
  openService = await startTestService(echo);
  slowSender = sendSlowly(openService);
  slowSender.catch(() => undefined); // its test says so
});
afterAll(async () => {
  await openService[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

describe.each(clients)('$name', ({ upload }) => {
  let service: TestService;
  let strict: TestService;

  beforeAll(async () => {
    service = await startTestService(echo);
    strict = await startTestService({ ...echo, env: { API_KEYS: 'right' } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await strict[Symbol.asyncDispose]();
  });

  it('reads the transcript of 25 MB', async () => {
    const { status } = held(await upload(service.url + path, await file('largest', 25 * megabyte)));
    expect(status).toBe(200);
  });

  it('reads the problem for 40 MB', async () => {
    const place = await file('far-too-large', 40 * megabyte);
    for (let round = 0; round < rounds; round++) {
      const { problem } = held(await upload(service.url + path, place));
      expect(problem).toMatchObject({ status: 422, code: 'recording-too-large' });
    }
  });

  it('reads the problem for a missing key', async () => {
    const place = await file('stranger', 40 * megabyte);
    for (let round = 0; round < rounds; round++) {
      const answer = held(await upload(strict.url + path, place));
      expect(answer.problem).toMatchObject({ status: 401, code: 'unauthorized' });
    }
  });

  it('leaves no files', async () => {
    await eventually(() => service.leftovers()).toEqual([]);
    await eventually(() => openFiles(service.dir)).toEqual([]);
  });
});

describe('a client that never stops sending', () => {
  it('gets the response, and is disconnected after a grace period', async () => {
    using connection = await beginUpload(openService);
    const piece = chunk(Buffer.alloc(megabyte));
    let sent = 0;
    for (; connection.isOpen && sent < 1000; sent++) await connection.send(piece);
    expect(await connection.answer('POST', path)).toMatchObject({ problem: { code: 'recording-too-large' } });
    await connection.closed;
    expect(sent).toBeGreaterThan(64);
    expect(sent).toBeLessThan(150);
  });

  it('is disconnected however slowly it sends', async () => {
    expect(await slowSender).toMatchObject({ problem: { code: 'recording-too-large' } });
  });
});

async function beginUpload({ url }: TestService): Promise<RawConnection> {
  const connection = await connectRaw(url);
  await connection.send(requestHead('POST', path, { ...multipartType, 'transfer-encoding': 'chunked' }));
  await connection.send(chunk(part(recording).subarray(0, -2)));
  return connection;
}

/** Sends 20 bytes a second after too large a recording, until it is disconnected. Resolves with its answer. */
async function sendSlowly(service: TestService): Promise<unknown> {
  using connection = await beginUpload(service);
  await connection.send(chunk(Buffer.alloc(26 * megabyte)));
  const answer = await connection.answer('POST', path);
  const drip = setInterval(() => void connection.send(chunk(Buffer.alloc(1))), 50);
  await connection.closed;
  clearInterval(drip);
  return answer;
}

describe('a body that does not arrive in time', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ...echo, bodyTimeoutMs: 300, uploadTimeoutMs: 300 });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it.each([
    ['with Content-Length', { 'content-length': 1000 }, (bytes: Buffer) => bytes],
    ['in chunks', { 'transfer-encoding': 'chunked' }, chunk],
  ])('is answered 408 when it is a form %s', async (_how, framing, frame) => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, { ...multipartType, ...framing }));
    await connection.send(frame(part(recording).subarray(0, -2)));
    const { status, problem } = await connection.answer('POST', path);
    expect({ status, code: problem.code }).toEqual({ status: 408, code: 'request-timeout' });
    await eventually(() => service.leftovers()).toEqual([]);
  });

  it('gets a 408 after 100 Continue', async () => {
    using connection = await connectRaw(service.url);
    const headers = { ...multipartType, 'content-length': 1000, expect: '100-continue' };
    await connection.send(requestHead('POST', path, headers));
    expect(await connection.answer('POST', path)).toMatchObject({ status: 408 });
    expect(connection.received).toMatch(/^HTTP\/1.1 100 Continue\r\n/);
  });

  it('may finish after the response: the connection serves the next request', async () => {
    using connection = await connectRaw(service.url);
    const body = multipart(recording);
    await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': body.length }));
    await connection.send(body.subarray(0, -20));
    expect(await connection.answer('POST', path)).toMatchObject({ status: 408 });
    await connection.send(body.subarray(-20));
    await connection.send(requestHead('GET', '/api/v1/models', {}));
    expect(await connection.answer('GET', '/api/v1/models')).toMatchObject({ status: 200 });
    await eventually(() => service.leftovers()).toEqual([]);
    await eventually(() => openFiles(service.dir)).toEqual([]);
  });

  it('leaks no file descriptor', async () => {
    await eventually(() => openFiles(service.dir)).toEqual([]);
  });
});

describe('the stored upload', () => {
  it('is in the data directory during the request, under a generated name, and removed afterwards', async () => {
    await using service = await startTestService(patient);
    const form = multipart({ ...recording, filename: '../../escape.wav' });
    const answer = createApi(service.url).send('POST', path, { headers: multipartType, body: form });
    await eventually(() => service.log.map(({ msg }) => msg)).toContain('the engine works');
    const files = await service.leftovers();
    expect(files.map((place) => place.split('/').at(-1))).toContain('upload');
    expect(files.join()).not.toMatch(/escape|wav/);
    await writeFile(join(service.dir, 'finish'), '');
    expect(await answer).toMatchObject({ status: 200, body: { text: 'at last' } });
    await eventually(() => service.leftovers()).toEqual([]);
  });

  it('is removed after a failure', async () => {
    await using service = await startTestService(broken);
    const answer = await createApi(service.url).send('POST', path, {
      headers: multipartType,
      body: multipart(recording),
    });
    expect(answer.status).toBe(500);
    await eventually(() => service.leftovers()).toEqual([]);
  });

  it('is removed when the client disconnects during the upload', async () => {
    await using service = await startTestService(echo);
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': megabyte }));
    await connection.send(part(recording));
    await eventually(() => service.leftovers()).toContainEqual(expect.stringMatching(/upload$/));
    connection[Symbol.dispose]();
    await eventually(() => service.leftovers()).toEqual([]);
    await eventually(() => openFiles(service.dir)).toEqual([]);
    await eventually(() => service.log).toContainEqual(expect.objectContaining({ msg: 'request', status: 499 }));
  });

  it('is removed when the client disconnects while its directory is created', async () => {
    await using service = await startTestService(echo);
    const release = await stopTheDisk();
    try {
      const begun = nextRequest(service);
      using connection = await connectRaw(service.url);
      await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': megabyte }));
      await begun;
      connection[Symbol.dispose]();
      await eventually(() => service.log).toContainEqual(expect.objectContaining({ msg: 'request', status: 499 }));
    } finally {
      await release();
    }
    // Whose place is made after that of the first.
    const form = { headers: multipartType, body: multipart(recording) };
    expect(await createApi(service.url).send('POST', path, form)).toMatchObject({ status: 200 });
    await eventually(() => service.leftovers()).toEqual([]);
  });

  it('is removed when the client disconnects during the transcription', async () => {
    await using service = await startTestService(patient);
    using connection = await connectRaw(service.url);
    const body = multipart(recording);
    await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': body.length }));
    await connection.send(body);
    await eventually(() => service.log.map(({ msg }) => msg)).toContain('the engine works');
    connection[Symbol.dispose]();
    await eventually(() => service.leftovers()).toEqual([]);
  });
});

/** The files of this process below the directory, deleted ones too (Linux). */
async function openFiles(below: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((target) => target.startsWith(below));
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

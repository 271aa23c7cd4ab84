import { hash } from 'node:crypto';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { createHttpClient } from '../../../lib/http-client.ts';
import { download, type Download, type RetryPolicy } from '../../../src/engine-host/assets/download.ts';
import {
  good,
  recordingLog,
  serve,
  status,
  temporaryDirectory,
  type Answer,
} from '../../engines/whisper-cli/support.ts';
import { noise } from '../../support/noise.ts';
import { entriesOf } from '../../support/temporary.ts';

const MiB = 2 ** 20;
const content = noise(3 * MiB);
const half = 1.5 * MiB;
const retry: RetryPolicy = { idleMs: 30_000, attempts: 3, firstDelayMs: 1, maxDelayMs: 20 };

const client = createHttpClient({});
const { fetch } = client;
afterAll(() => client[Symbol.asyncDispose]());

async function jobFor(url: string, changes: Partial<Download> = {}) {
  const directory = await temporaryDirectory();
  const fractions: (number | null)[] = [];
  const job: Download = {
    url: `${url}/model.bin`,
    to: join(directory, 'model.bin'),
    digest: hash('sha1', content),
    maxBytes: 4 * MiB,
    fetch,
    signal: new AbortController().signal,
    progress: (fraction) => fractions.push(fraction),
    log: recordingLog(),
    retry,
    ...changes,
  };
  return { ...job, directory, part: `${job.to}.part`, fractions };
}

/** Resolves when the file has this many bytes. */
async function hasBytes(path: string, bytes: number): Promise<void> {
  await vi.waitFor(async () => expect((await stat(path)).size).toBe(bytes), { interval: 2, timeout: 10_000 });
}

/** Sends the first half; once the client has stored it, calls `then`. */
function firstHalf(stored: () => string, then: (response: Parameters<Answer>[1]) => void, headers = {}): Answer {
  return async (_request, response) => {
    response.writeHead(200, { 'content-length': content.length, ...headers });
    response.write(content.subarray(0, half));
    await hasBytes(stored(), half);
    then(response);
  };
}

test('a file is downloaded completely, with progress, and no other file is left', async () => {
  const { url, requests } = await serve(good(content));
  const job = await jobFor(url);
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
  expect(await entriesOf(job.directory)).toEqual(['model.bin']);
  expect(job.fractions.at(-1)).toBe(1);
  expect(job.fractions).toEqual(job.fractions.toSorted((a, b) => Number(a) - Number(b)));
  expect(requests[0]?.headers['accept-encoding']).toBe('identity');
});

test('a server that closes the connection after the last byte causes no failure', async () => {
  const closing: Answer = (_request, response) => {
    response.writeHead(200, { 'content-length': content.length, connection: 'close' }).end(content);
  };
  const { url } = await serve(closing);
  for (let time = 0; time < 5; time++) await download(await jobFor(url));
});

test('a redirect is followed', async () => {
  const { url: mirror } = await serve(good(content));
  const { url, requests } = await serve((_request, response) => {
    response.writeHead(302, { location: `${mirror}/model.bin` }).end();
  });
  const job = await jobFor(url);
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
  expect(requests).toHaveLength(1);
});

test('a redirect from https to http is refused, and one without end', async () => {
  const asked: unknown[] = [];
  const redirectTo = (location: string) => (url: string | URL | Request) => {
    asked.push(url);
    return Promise.resolve(new Response(null, { status: 302, headers: { location } }));
  };
  const plain = await jobFor('https://models.example', { fetch: redirectTo('http://mirror.example/model.bin') });
  await expect(download(plain)).rejects.toThrow('it redirects to http://mirror.example');
  expect(asked).toEqual(['https://models.example/model.bin']);
  const wrong = await jobFor('https://models.example', { fetch: redirectTo('http://[') });
  await expect(download(wrong)).rejects.toThrow('it redirects to an invalid address');
  const circle = await jobFor('https://models.example', { fetch: redirectTo('/model.bin') });
  await expect(download(circle)).rejects.toThrow('redirects more than 20 times');
});

test('an existing file is not downloaded again, a wrong one is replaced', async () => {
  const { url, requests } = await serve(good(content));
  const job = await jobFor(url);
  await writeFile(job.to, 'something else');
  await download(job);
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
  expect(requests).toHaveLength(1);
});

test('without a Content-Length the progress is unknown', async () => {
  const { url } = await serve((_request, response) => void response.writeHead(200).end(content));
  const job = await jobFor(url);
  await download(job);
  expect(new Set(job.fractions)).toEqual(new Set([null]));
});

test('an interrupted transfer resumes where it stopped, only for the same version', async () => {
  let part = '';
  const breaksOff = firstHalf(
    () => part,
    (response) => response.destroy(),
    { etag: '"one"' },
  );
  const { url, requests } = await serve(breaksOff, good(content, '"one"'));
  const job = await jobFor(url);
  part = job.part;
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
  expect(requests[1]?.headers).toMatchObject({ range: `bytes=${half}-`, 'if-range': '"one"' });
});

test('content that changes between two attempts is downloaded from the start', async () => {
  let part = '';
  const changed = noise(2 * MiB, 2);
  const breaksOff = firstHalf(
    () => part,
    (response) => response.destroy(),
    { etag: '"one"' },
  );
  const { url, requests } = await serve(breaksOff, good(changed, '"two"'));
  const job = await jobFor(url, { digest: hash('sha1', changed) });
  part = job.part;
  await download(job);
  expect(changed.equals(await readFile(job.to))).toBe(true);
  expect(requests).toHaveLength(2);
});

test('a weak ETag is not used to resume', async () => {
  let part = '';
  const breaksOff = firstHalf(
    () => part,
    (response) => response.destroy(),
    { etag: 'W/"one"' },
  );
  const { url, requests } = await serve(breaksOff, good(content));
  const job = await jobFor(url);
  part = job.part;
  await download(job);
  expect(requests[1]?.headers).not.toHaveProperty('if-range');
});

test('the partial file of an earlier process is used', async () => {
  const { url, requests } = await serve(good(content));
  const job = await jobFor(url);
  await writeFile(job.part, content.subarray(0, MiB));
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
  expect(requests.map(({ headers }) => headers.range)).toEqual([`bytes=${MiB}-`]);
});

test('a complete partial file needs no request', async () => {
  const { url, requests } = await serve(good(content));
  const job = await jobFor(url);
  await writeFile(job.part, content);
  await download(job);
  expect(await entriesOf(job.directory)).toEqual(['model.bin']);
  expect(requests).toHaveLength(0);
});

test.for<[string, Answer[]]>([
  ['ignores Range', [(_request, response) => void response.end(content)]],
  ['answers 416', [good(content.subarray(0, MiB)), good(content)]],
  ['sends another range', [(_, response) => void response.writeHead(206).end('x'), good(content)]],
  ['continues with other bytes', [good(noise(3 * MiB, 2)), good(content)]],
])('a download that should resume starts over when the server %s', async ([, answers]) => {
  const { url } = await serve(...answers);
  const job = await jobFor(url);
  await writeFile(job.part, content.subarray(0, 2 * MiB));
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
});

test('a stalled transfer is aborted and retried', async () => {
  let part = '';
  const stalls = firstHalf(
    () => part,
    () => {},
  );
  const { url, requests } = await serve(stalls, good(content));
  const job = await jobFor(url, { retry: { ...retry, idleMs: 300 } });
  part = job.part;
  await download(job);
  expect(requests.length).toBeGreaterThan(1);
});

test('a server that never responds ends in a clear error', async () => {
  const { url } = await serve(() => {});
  let asked = 0; // the server may see a request only when it has been given up
  const counting: typeof fetch = (...request) => ((asked += 1), fetch(...request));
  const job = await jobFor(url, { fetch: counting, retry: { ...retry, idleMs: 20 } });
  await expect(download(job)).rejects.toThrow('idle timeout: no data for 0.02 s, after 3 attempts');
  expect(asked).toBe(3);
  expect(await entriesOf(job.directory)).toEqual([]);
});

test.for<[string, Answer]>([
  ['500', status(500)],
  ['503', status(503, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() })],
  ['429', status(429, { 'retry-after': '3600' })],
  ['408', status(408)],
])('a %s is retried, and the delay is limited', async ([, answer]) => {
  const { url, requests } = await serve(answer, answer, good(content));
  await download(await jobFor(url));
  expect(requests).toHaveLength(3);
});

test('a server that keeps failing ends in an error with the reason', async () => {
  const { url, requests } = await serve(status(500));
  await expect(download(await jobFor(url))).rejects.toThrow(
    /model\.bin cannot be downloaded: the server answered 500 Internal Server Error, after 3 attempts$/,
  );
  expect(requests).toHaveLength(3);
});

test('a transfer that makes progress may fail more often than one that does not', async () => {
  let part = '';
  const brokenAt = (bytes: number): Answer => {
    return async (_request, response) => {
      const start = bytes - MiB / 2;
      const range = `bytes ${start}-${content.length - 1}/${content.length}`;
      response.writeHead(start === 0 ? 200 : 206, { 'content-range': range });
      response.write(content.subarray(start, bytes));
      await hasBytes(part, bytes);
      response.destroy();
    };
  };
  const steps = [0.5, 1, 1.5, 2, 2.5].map((size) => brokenAt(size * MiB));
  const { url, requests } = await serve(...steps, good(content));
  const job = await jobFor(url);
  part = job.part;
  await download(job);
  expect(requests).toHaveLength(6);
});

test('a 404 is not retried', async () => {
  const { url, requests } = await serve(status(404));
  const job = await jobFor(url);
  await expect(download(job)).rejects.toThrow('model.bin cannot be downloaded: the server answered 404 Not Found');
  expect(requests).toHaveLength(1);
  expect(await entriesOf(job.directory)).toEqual([]);
});

test('an unreachable host ends in an error that says so', async () => {
  const { url, close } = await serve(status(200));
  await close();
  await expect(download(await jobFor(url))).rejects.toThrow(
    /the connection failed \(.*ECONNREFUSED.*, after 3 attempts/,
  );
});

test.each([
  ['MD5', 'md5'],
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
])('wrong content is deleted, and the error contains both digests: %s', async (name, algorithm) => {
  const wrong = noise(1000, 2);
  const { url, requests } = await serve(good(wrong), good(content));
  const job = await jobFor(url, { digest: hash(algorithm, content) });
  await expect(download(job)).rejects.toThrow(
    `1000 bytes with the ${name} ${hash(algorithm, wrong)}, expected ${hash(algorithm, content)}; the download was deleted`,
  );
  expect(requests).toHaveLength(1);
  expect(await entriesOf(job.directory)).toEqual([]);
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
});

test('a digest of another length is a mistake of the caller', async () => {
  const { url, requests } = await serve(good(content));
  await expect(download(await jobFor(url, { digest: 'abc' }))).rejects.toThrow(TypeError);
  expect(requests).toEqual([]);
});

test('a body shorter than its Content-Length is a failed transfer', async () => {
  const tooLong: Answer = (_request, response) => {
    response.writeHead(200, { 'content-length': content.length + 5, connection: 'close' });
    response.end(content);
  };
  const { url } = await serve(tooLong, tooLong, good(content));
  const job = await jobFor(url);
  await download(job);
  expect(content.equals(await readFile(job.to))).toBe(true);
});

test('a body longer than its Content-Length is a wrong file', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': content.length - 5, connection: 'close' });
    response.end(content);
  });
  const job = await jobFor(url);
  await expect(download(job)).rejects.toThrow(`${content.length - 5} bytes with the SHA-1`);
  expect(await entriesOf(job.directory)).toEqual([]);
});

test.for<[string, Answer]>([
  ['announces', good(content)],
  ['sends', (_request, response) => void response.writeHead(200).end(content)],
])('more bytes than the maximum are rejected when the server %s them', async ([, answer]) => {
  const { url, requests } = await serve(answer);
  const job = await jobFor(url, { maxBytes: MiB });
  await expect(download(job)).rejects.toThrow('it has more than 1048576 bytes');
  expect(requests).toHaveLength(1);
  expect(await entriesOf(job.directory)).toEqual([]);
});

test('an abort ends the download immediately and keeps the partial file', async () => {
  let part = '';
  let closed: Promise<unknown> | undefined;
  const stalls: Answer = (request, response) => {
    closed = new Promise((resolve) => request.socket.on('close', resolve));
    return firstHalf(
      () => part,
      () => controller.abort(new Error('enough')),
    )(request, response);
  };
  const { url, requests } = await serve(stalls, good(content));
  const controller = new AbortController();
  const job = await jobFor(url, { signal: controller.signal });
  part = job.part;
  await expect(download(job)).rejects.toThrow('enough');
  await closed;
  expect(await entriesOf(job.directory)).toEqual(['model.bin.part']);
  await download({ ...job, signal: new AbortController().signal });
  expect(requests[1]?.headers.range).toBe(`bytes=${half}-`);
});

test('an abort ends the delay before the next attempt', async () => {
  const { url } = await serve(status(500));
  const controller = new AbortController();
  const log = recordingLog();
  const slow = { ...retry, firstDelayMs: 60_000, maxDelayMs: 60_000 };
  const done = download(await jobFor(url, { signal: controller.signal, log, retry: slow }));
  void log.logged(({ message }) => message.includes('retrying')).then(() => controller.abort(new Error('enough')));
  await expect(done).rejects.toThrow('enough');
});

test('a symlink in place of the partial file is not followed', async () => {
  const { url } = await serve(good(content));
  const job = await jobFor(url);
  const other = join(await temporaryDirectory(), 'letter.txt');
  await writeFile(other, '');
  await symlink(other, job.part);
  await expect(download(job)).rejects.toThrow(`${job.part} is not a regular file`);
  expect(await readFile(other, 'utf8')).toBe('');
});

test('a model that is a symlink to the whole file is not downloaded again', async () => {
  const { url, requests } = await serve(good(content));
  const job = await jobFor(url);
  const other = join(await temporaryDirectory(), 'elsewhere.bin');
  await writeFile(other, content);
  await symlink(other, job.to);
  expect(await download(job)).toBe(false);
  expect(requests).toHaveLength(0);
});

test('concurrent downloads of the same file make one request', async () => {
  const { url, requests } = await serve(good(content));
  const job = await jobFor(url);
  await Promise.all([download(job), download(job)]);
  expect(requests).toHaveLength(1);
  expect(await entriesOf(job.directory)).toEqual(['model.bin']);
});

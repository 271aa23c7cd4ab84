import { hash } from 'node:crypto';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Logger } from '../../../engines/contract/index.ts';
import type { Build } from '../../../engines/whisper-cli/build.ts';
import { streamProgram } from '../../../src/system/child-process/stream-program.ts';

/** A temporary directory, removed at the end of the test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'parlance-whisper-cli-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A logger that records its entries; `logged` resolves with the first entry that `wanted` accepts. */
export function recordingLog() {
  const entries: { facts: object; message: string }[] = [];
  const listeners = new Set<() => void>();
  const record = (facts: object, message: string) => {
    entries.push({ facts, message });
    for (const listen of listeners) listen();
  };
  const log: Logger = { debug: record, info: record, warn: record, error: record };
  const logged = (wanted: (entry: { facts: object; message: string }) => boolean) =>
    new Promise<{ facts: object; message: string }>((resolve) => {
      const look = () => {
        const entry = entries.find(wanted);
        if (entry !== undefined) resolve(entry);
      };
      listeners.add(look);
      look();
    });
  return { ...log, entries, logged };
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A server on 127.0.0.1 that sends its responses in turn and repeats the last one; closed at the end of the test. */
export async function serve(...answers: Answer[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request);
    void answer?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close };
}

/** Serves a file with support for Range, If-Range and 416. */
export function good(content: Uint8Array, etag?: string): Answer {
  return (request, response) => {
    if (etag !== undefined) response.setHeader('etag', etag);
    const wanted = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    const start = wanted === undefined || (request.headers['if-range'] ?? etag) !== etag ? undefined : Number(wanted);
    if (start !== undefined && start >= content.length) {
      response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
      return;
    }
    const body = content.subarray(start ?? 0);
    response.setHeader('content-length', body.length);
    if (start !== undefined) {
      response.statusCode = 206;
      response.setHeader('content-range', `bytes ${start}-${content.length - 1}/${content.length}`);
    }
    response.end(body);
  };
}

/** Sends the first half, rounded down, and no more. */
export function half(content: Uint8Array): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, Math.floor(content.length / 2)));
  };
}

/** Responds with a status and an empty body. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(code, headers).end();
  };
}

/** Program names on PATH, and the fixture in test/fixtures/programs behind each; `node` is Node itself. */
export type Programs = Readonly<Record<string, string>>;

/** Has all build tools; the compilers are never run. */
export const machine = {
  npm: 'npm',
  tar: 'tar',
  cmake: 'cmake',
  make: 'node',
  cc: 'node',
  'c++': 'node',
  node: 'node',
};

/** A PATH with these programs and no others. */
export async function pathWith(programs: Programs): Promise<string> {
  const path = await temporaryDirectory();
  const fixtures = fileURLToPath(new URL('../../fixtures/programs/', import.meta.url));
  for (const [name, program] of Object.entries(programs)) {
    await symlink(program === 'node' ? process.execPath : join(fixtures, program), join(path, name));
  }
  return path;
}

/** The source that the fixture `npm` packs. */
export const fakeSource = {
  name: 'nodejs-whisper',
  version: '0.3.1',
  integrity: `sha512-${hash('sha512', 'the packed source', 'base64')}`,
  path: 'package/cpp/whisper.cpp',
};

/** A build with these programs, in a data directory of its own. */
export async function buildOn(programs: Programs, changes: Partial<Build> = {}) {
  const dataDir = join(await temporaryDirectory(), 'data');
  const log = recordingLog();
  const fractions: number[] = [];
  const build: Build = {
    dataDir,
    env: { PATH: await pathWith(programs) },
    cores: 2,
    start: streamProgram,
    signal: new AbortController().signal,
    progress: (fraction) => fractions.push(fraction),
    log,
    source: fakeSource,
    programs: ['whisper-cli'],
    ...changes,
  };
  return { build, dataDir, program: join(dataDir, 'bin', 'whisper-cli'), log, fractions };
}

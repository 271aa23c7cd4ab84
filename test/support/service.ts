/** A whole service for a test: real sockets on 127.0.0.1, port 0, its own data directory, its log kept in memory. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '../../src/service.ts';
import type { Tuning } from '../../src/tuning.ts';
import { recordAnswers, stopRecording } from '../contract/coverage/recorder.ts';
import { startAsAsked } from './fleet-mode.ts';
import './shared-compile-cache.ts';

export interface TestServiceOptions extends Partial<Tuning> {
  /** Beside HOST, PORT and DATA_DIR, which the test service sets itself. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text of parlance.config.yaml. */
  readonly config?: string;
  /** More files beside parlance.config.yaml, by name: engines of the test's own. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

export interface TestService extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly service: Service;
  /** The directory that the service may write to; nothing outside of it changes. */
  readonly dir: string;
  readonly log: readonly LogLine[];
  /** A request below /api/v1. */
  api(path: string, init?: RequestInit): Promise<Response>;
  /** POSTs JSON below /api/v1. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** What of requests is on the disk now. */
  leftovers(): Promise<string[]>;
}

export async function startTestService({
  env = {},
  config,
  files = {},
  ...tuning
}: TestServiceOptions = {}): Promise<TestService> {
  const dir = await mkdtemp(join(tmpdir(), 'parlance-test-'));
  if (config !== undefined) await writeFile(join(dir, 'parlance.config.yaml'), config);
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: join(dir, 'data'),
    LOG_LEVEL: 'debug',
    NODE_ENV: 'test',
    ...env,
  };
  const log: LogLine[] = [];
  const sink = { write: (line: string) => void log.push(JSON.parse(line) as LogLine) };
  const service = await startAsAsked({ env: environment, dir, sink }, tuning).catch(async (error: unknown) => {
    await rm(dir, { recursive: true, force: true });
    throw error;
  });
  const port = Number(new URL(service.url).port);
  recordAnswers(port);
  const api = (path: string, init?: RequestInit) => fetch(`${service.url}/api/v1${path}`, init);
  return {
    url: service.url,
    service,
    dir,
    log,
    api,
    post: (path, body, init = {}) => {
      const headers = { 'content-type': 'application/json', ...(init.headers as Record<string, string> | undefined) };
      return api(path, {
        ...init,
        method: 'POST',
        headers,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    },
    leftovers: async () => {
      const nodes = ['data', 'worker'].filter((node) => existsSync(join(dir, node)));
      const files = await Promise.all(nodes.map((node) => listed(join(dir, node, 'tmp'))));
      return files.flat().filter((path) => path.includes('/'));
    },
    async [Symbol.asyncDispose]() {
      await service.stop(0);
      stopRecording(port);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Everything below a directory, in which files may just be removed. */
async function listed(directory: string): Promise<string[]> {
  for (;;) {
    try {
      return await readdir(directory, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(directory)) throw error;
    }
  }
}

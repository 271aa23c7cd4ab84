/** `@parlance/server/sandbox`: a service in sandbox mode, in the process of the tests that use it. */
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Options } from '../../engines/sandbox/options.ts';
import { createClient, type Client, type SpeechRequest } from '../client/index.ts';
import { readFaults, type Faults } from '../contract/prefer.ts';
import { createLog, loadSettings } from '../index.ts';
import { startService } from '../service.ts';
import { createWorkspace, type Workspace } from '../system/workspace.ts';

/** Options of `startSandbox`: those of the engine `sandbox`. */
export interface SandboxOptions extends Options {
  /** Path of a settings file, whose engines replace the sandbox. Defaults to none if not specified. */
  readonly config?: string | undefined;
}

/** A fault for the next requests. Seconds, bytes and events as in the header `Prefer`. */
export interface Fault extends Faults {
  /** Status of the declared response to return. */
  readonly code?: number;
  /** Number of requests. Defaults to 1 if not specified. */
  readonly times?: number;
}

/** A running sandbox. Disposing of it ends its requests and deletes its files. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  readonly client: Client;
  /** Variables for OpenAI's SDKs, and for programs that use the client. */
  readonly env: Readonly<Record<'PARLANCE_URL' | 'OPENAI_BASE_URL' | 'OPENAI_API_KEY', string>>;
  /** The requests to the APIs so far, including upgrades to a WebSocket. They are kept in memory with their bodies. */
  readonly requests: readonly Request[];
  /** Resolves with a recording whose transcript is the text. `format` defaults to `wav` if not specified. */
  speak(text: string, format?: SpeechRequest['format']): Promise<File>;
  /** Applies a fault to the next requests without `Prefer`. Faults apply in call order. Throws for invalid values. */
  next(fault: Fault): void;
}

/**
 * Starts a service in sandbox mode on a free port of 127.0.0.1. It reads no environment variables. Throws a
 * `SettingsError` or a `RegistryError`.
 *
 * @example
 * import { startSandbox } from '@parlance/server/sandbox';
 *
 * await using sandbox = await startSandbox();
 * const recording = await sandbox.speak('Good morning.');
 * console.log((await sandbox.client.transcribe(recording)).text);
 */
export async function startSandbox({ config, ...options }: SandboxOptions = {}): Promise<Sandbox> {
  const workspace = await createWorkspace(tmpdir());
  try {
    return await openSandbox(workspace, options, config);
  } catch (error) {
    workspace[Symbol.dispose]();
    throw error;
  }
}

async function openSandbox(workspace: Workspace, options: Options, config?: string): Promise<Sandbox> {
  const file = config === undefined ? {} : { PARLANCE_CONFIG: resolve(config) };
  const { path } = workspace;
  const env = { PARLANCE_SANDBOX: 'on', DATA_DIR: path, NODE_ENV: 'production', ...file };
  // The file may be that of a service that listens elsewhere, with TLS.
  const { metricsPort: _metricsPort, tlsCert: _tlsCert, tlsKey: _tlsKey, ...loaded } = loadSettings(env, path);
  const local = { ...loaded, host: '127.0.0.1', port: 0 };
  const engines = { sandbox: { use: 'sandbox', ...options } };
  const settings = config === undefined ? { ...local, engines, baseDir: process.cwd() } : local;
  const [faults, requests]: [PendingFault[], Request[]] = [[], []];

  function receive(req: IncomingMessage): void {
    const isOfApp = req.headers[ownHeader] === undefined && req.method !== 'TRACE'; // Request rejects TRACE
    if (!isOfApp || !/^\/(api\/)?v1\//.test(req.url ?? '')) return;
    requests.push(copyOf(req, url));
    const [fault] = faults;
    if (!fault || req.headers.prefer !== undefined) return;
    req.headers.prefer = fault.prefer;
    fault.times -= 1;
    if (fault.times <= 0) faults.shift();
  }

  const service = await startService({ settings, env, log: createLog('silent') }, {}, ({ listener, upgrade }) => ({
    listener(req, res) {
      receive(req);
      listener(req, res);
    },
    upgrade(req, socket, head) {
      receive(req);
      return upgrade(req, socket, head);
    },
  }));
  const { url } = service;
  const own = createClient({
    baseUrl: url,
    fetch(request) {
      request.headers.set(ownHeader, 'on');
      return fetch(request);
    },
  });

  async function end(): Promise<void> {
    await service.stop(0);
    workspace[Symbol.dispose]();
  }
  let ended: Promise<void> | undefined;
  return {
    ...{ url, requests, client: createClient({ baseUrl: url }) },
    env: { PARLANCE_URL: url, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sandbox' },
    async speak(text, format = 'wav') {
      const sound = await (await own.speak({ text, format })).blob();
      return new File([sound], `speech.${format}`, { type: sound.type });
    },
    next({ times = 1, ...fault }) {
      if (!(times >= 1)) throw new RangeError('times must be at least 1');
      const pairs = Object.entries(fault).map(([name, value]) => [name, String(value)] as const);
      readFaults(Object.fromEntries(pairs), true);
      faults.push({ times, prefer: pairs.map((pair) => pair.join('=')).join(', ') });
    },
    [Symbol.asyncDispose]: () => (ended ??= end()),
  };
}

/** Marks the requests of `speak`. */
const ownHeader = 'x-parlance-own';

interface PendingFault {
  readonly prefer: string;
  times: number;
}

/** A copy for the test, whose body can be read at any time. */
function copyOf(req: IncomingMessage, url: string): Request {
  const { method = 'GET' } = req;
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const target = new URL(req.url ?? '', url);
  if (method === 'GET' || method === 'HEAD') return new Request(target, { method, headers });
  const body = new PassThrough();
  // A listener would make the data flow before the service reads it.
  const emit = req.emit.bind(req) as (event: string, ...given: unknown[]) => boolean;
  req.emit = (event: string, ...given: unknown[]) => {
    if (event === 'data') body.write(given[0]);
    return emit(event, ...given);
  };
  req.once('close', () => body.end());
  return new Request(target, { method, headers, body, duplex: 'half' });
}

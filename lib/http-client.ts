/**
 * Outgoing HTTP of the whole service: providers, MCP servers, downloads, and `context.fetch` of engines. Honors
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
 *
 * Uses the undici package instead of the fetch of Node.js: Node.js 24 bundles undici 7, which crashes the process when
 * a server closes a connection while the reader of the body is paused (nodejs/undici#5360).
 */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isLoopback } from './loopback.ts';
import { dropHeads } from './response-head.ts';
import { proxiesOf, proxyMistakes, type Environment, type Proxies } from './proxies.ts';

type Undici = typeof import('undici');

export interface HttpClient extends AsyncDisposable {
  /** undici's `request`: the body is a Node.js stream, and redirects are not followed. Cheaper than `fetch`. */
  readonly request: (url: string, options: RequestOptions) => Promise<HttpResponse>;
  readonly fetch: typeof globalThis.fetch;
}

export interface RequestOptions {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable;
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the head of the response; default: forever. */
  readonly headersTimeout?: number;
  /** Milliseconds to wait for the next bytes of the body, except while its reader pauses; default: forever. */
  readonly bodyTimeout?: number;
}

export interface HttpResponse {
  readonly statusCode: number;
  /** Keys are lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/**
 * Keeps connections alive between requests. Their number is unlimited: with a limit, a long stream would block the
 * requests behind it. undici is loaded with the first request. Disposing of the client closes its connections. Throws
 * if `proxyMistakes` returns any. `connectMs` is the only timeout of the client itself: the caller limits everything
 * else.
 */
export function createHttpClient(env: Environment, connectMs = 10_000): HttpClient {
  const mistakes = proxyMistakes(env);
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  const open = async () => {
    const undici = await import('undici'); // lazy: it takes 80 ms of startup and may never be needed
    const { dispatcher, destroy } = createDispatcher(undici, proxiesOf(env), connectMs);
    return { undici, dispatcher, requestDispatcher: dispatcher.compose(dropHeads), destroy };
  };
  let opened: ReturnType<typeof open> | undefined;
  const ready = () => (opened ??= open().catch(forget));
  function forget(error: unknown): never {
    opened = undefined; // retry with the next request: the process may have been out of file descriptors
    throw error;
  }
  return {
    async request(url, options) {
      const { undici, requestDispatcher } = await ready();
      return undici.request(url, { ...options, dispatcher: requestDispatcher });
    },
    async fetch(input, init) {
      const { undici, dispatcher } = await ready();
      const [url, own] = toUndici(undici, input, init);
      // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- only instanceof tells the two apart
      return await undici.fetch(url, { ...own, dispatcher });
    },
    async [Symbol.asyncDispose]() {
      await (await opened?.catch(() => undefined))?.destroy();
    },
  };
}

interface OpenDispatcher {
  readonly dispatcher: Dispatcher;
  readonly destroy: () => Promise<unknown>;
}

function createDispatcher(
  { Agent, Pool, EnvHttpProxyAgent }: Undici,
  { http, https, noProxy }: Proxies,
  connectMs: number,
): OpenDispatcher {
  const options = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: connectMs }, allowH2: false } as const;
  const direct = new Agent(options);
  if (http === undefined && https === undefined) return { dispatcher: direct, destroy: () => direct.destroy() };
  const proxied = new EnvHttpProxyAgent({
    ...options,
    // Never undefined: undici would fall back to process.env.
    ...{ httpProxy: http?.href ?? '', httpsProxy: https?.href ?? '', noProxy },
    connectTimeout: connectMs,
    proxyTls: { allowH2: false },
    // ProxyAgent does not apply its timeouts to connections for http targets, which would have the default of 300 s.
    factory: (origin: string | URL, given: object) => new Pool(origin, { ...given, headersTimeout: 0, bodyTimeout: 0 }),
    // A proxy that accepts the connection but does not answer CONNECT counts as unreachable.
    clientFactory: (origin: URL, given: object) => new Pool(origin, { ...given, headersTimeout: connectMs }),
  });
  // A model server on this machine must be reachable, whichever proxy the company uses.
  const isDirect = ({ protocol, hostname }: URL) =>
    (protocol === 'https:' ? https : http) === undefined || isLoopback(hostname);
  const dispatcher = direct.compose(
    (dispatch) => (request, handler) =>
      isDirect(new URL(request.origin ?? '')) ? dispatch(request, handler) : proxied.dispatch(request, handler),
  );
  return { dispatcher, destroy: () => Promise.all([direct.destroy(), proxied.destroy()]) };
}

/** undici does not recognize the Request and FormData of Node.js: it would send "[object FormData]" and the like. */
function toUndici({ FormData }: Undici, input: string | URL | Request, init?: RequestInit): [string | URL, object] {
  const isRequest = input instanceof Request;
  const given = { ...(isRequest && partsOf(input)), ...init };
  const url = isRequest ? input.url : input;
  if (!(given.body instanceof globalThis.FormData)) return [url, given];
  const body = new FormData();
  for (const [name, value] of given.body) body.append(name, value);
  return [url, { ...given, body }];
}

function partsOf({ method, headers, body, redirect, signal }: Request): RequestInit {
  return { method, headers, redirect, signal, ...(body && { body, duplex: 'half' }) };
}

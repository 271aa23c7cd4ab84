/** The listener of METRICS_PORT: serves metrics and probes to the operator's machines without API keys. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback, withoutBrackets } from '../../../lib/loopback.ts';
import type { Logger } from '../../../engines/contract/index.ts';
import { ProblemError, problemAnswer } from '../../contract/problems.ts';
import { SettingsError } from '../../settings/load.ts';
import { linger } from '../body/receive.ts';
import { listen, type ListeningServer, type ListenOptions } from './listener.ts';
import { nativeFormat } from '../native-format.ts';
import type { ReadyProbe } from '../probes.ts';
import { readRequestHead } from '../request-head.ts';
import { safeListener } from '../socket/safe-listener.ts';

/** `host` and `port` are METRICS_HOST and METRICS_PORT. */
export interface MetricsListenerOptions extends Pick<ListenOptions, 'host' | 'port' | 'log'> {
  /** Returns the body of `/healthz`, or throws a problem. */
  readonly alive: () => object;
  readonly readyProbe: ReadyProbe;
  readonly metrics: { readonly mediaType: string; render(): Promise<string> };
}

/** Low limits suffice, because scrapers are few and fast. */
const limits = { connections: 32, headMs: 5_000, stalledMs: 12_000 };

/** Throws a `SettingsError` if the address is in use or not local. */
export async function listenForMetrics(options: MetricsListenerOptions): Promise<ListeningServer> {
  const { host, port, log } = options;
  const pages = pagesOf(options);
  const serve = (req: IncomingMessage, res: ServerResponse) => {
    res.once(
      'finish',
      safeListener(log, () => linger(req)),
    );
    answer(req, res, pages, log).catch((error: unknown) => {
      log.error({ err: error }, 'a request for metrics could not be answered');
      res.destroy();
    });
  };
  try {
    return await listen(serve, { host, port, log, formatFor: () => nativeFormat, limits });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const fix =
      code === 'EADDRINUSE'
        ? 'set METRICS_PORT to a free port, or to 0 for any'
        : 'set METRICS_HOST and METRICS_PORT to an address of this machine';
    throw new SettingsError(`METRICS_PORT: cannot listen: ${message}; ${fix}`, { cause });
  }
}

interface Page {
  readonly mediaType: string;
  readonly text: string;
}

type Pages = ReadonlyMap<string, (host: string) => Page | Promise<Page>>;

function pagesOf({ host, alive, readyProbe, metrics }: MetricsListenerOptions): Pages {
  const json = (body: object) => ({ mediaType: 'application/json', text: JSON.stringify(body) });
  return new Map<string, (host: string) => Page | Promise<Page>>([
    ['/healthz', () => json(alive())],
    ['/readyz', () => json(readyProbe())],
    [
      '/metrics',
      async (asked: string) => {
        if (isLoopback(host)) refuseForeignName(asked);
        return { mediaType: metrics.mediaType, text: await metrics.render() };
      },
    ],
  ]);
}

/**
 * On loopback, rejects host names other than localhost, so that a web page cannot use DNS rebinding to read the names
 * of API keys.
 */
function refuseForeignName(asked: string): void {
  const name = withoutBrackets(asked.replace(/:\d+$/, ''));
  if (isLoopback(name) || isIP(name) !== 0) return;
  throw new ProblemError('host-not-allowed', 'METRICS_HOST is a loopback address: use that in the URL, not a name.');
}

async function answer(req: IncomingMessage, res: ServerResponse, pages: Pages, log: Logger): Promise<void> {
  const id = randomUUID();
  res.setHeader('X-Request-Id', id).setHeader('X-Content-Type-Options', 'nosniff');
  const send = (status: number, { mediaType, text }: Page) => {
    res.writeHead(status, { 'Content-Type': mediaType, 'Content-Length': Buffer.byteLength(text) }).end(text);
  };
  try {
    const { path, host } = readRequestHead(req);
    const page = pages.get(path);
    if (page === undefined) throw new ProblemError('not-found', `Known: ${[...pages.keys()].join(', ')}.`);
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      throw new ProblemError('method-not-allowed', 'Supported: GET, HEAD.', { headers });
    }
    send(200, await page(host));
  } catch (error) {
    const { status, mediaType, headers, body } = problemAnswer(error, id);
    if (body.code === 'internal-error') log.error({ id, err: error }, 'a request for metrics failed');
    res.setHeaders(new Map(Object.entries(headers)));
    send(status, { mediaType, text: JSON.stringify(body) });
  }
}

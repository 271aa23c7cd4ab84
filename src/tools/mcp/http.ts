/** MCP over streamable HTTP. */
import type { FetchLike, JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createHttpClient } from '../../../lib/http-client.ts';
import { createRateLimit } from '../../../lib/rate-limit.ts';
import type { Environment } from '../../settings/load.ts';
import { traceHeaders } from '../../trace.ts';
import { maxMessageBytes, messageRate } from './bounds.ts';

/** Timeout for a message that expects no response. */
const noticeMs = 10_000;

/** Timeout for ending the session. */
const terminateMs = 1_000;

export interface HttpTransportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The environment, which may contain proxy variables. */
  readonly env: Environment;
}

/** Creates the SDK's transport with our HTTP client, and guarantees that every request can be canceled. */
export function openHttpTransport(
  Transport: typeof StreamableHTTPClientTransport,
  { url, headers, env }: HttpTransportOptions,
): StreamableHTTPClientTransport {
  const client = createHttpClient(env);
  const send: FetchLike = async (address, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(traceHeaders(url))) headers.set(name, value);
    const answer = await client.fetch(address, { ...init, headers: [...headers], redirect: init.redirect ?? 'manual' });
    const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true;
    const { statusText } = answer;
    const status = isProbe(headers) ? statusOfProbe(answer.status) : answer.status;
    return new Response(answer.body?.pipeThrough(bound(isStream)) ?? null, {
      ...{ status, statusText, headers: [...answer.headers] },
    });
  };
  const transport = new Transport(new URL(url), { fetch: send, requestInit: { headers: { ...headers } } });
  endEveryRequest(transport);
  const close = transport.close.bind(transport);
  let closed: Promise<void> | undefined;
  transport.close = () => (closed ??= end());
  return transport;

  async function end(): Promise<void> {
    const late = setTimeout(() => void client[Symbol.asyncDispose](), terminateMs);
    await transport.terminateSession().catch(() => undefined); // best effort; the server may be gone
    clearTimeout(late);
    await close();
    await client[Symbol.asyncDispose]();
  }
}

/** Whether the request asks for the server's protocol versions. Version 2026-07-28 added this request. */
function isProbe(headers: Headers): boolean {
  return headers.get('mcp-method') === 'server/discover';
}

/**
 * Maps the status of the probe, because an older server may answer with any status. The SDK falls back to the handshake
 * after a 404, but waits after a 202, and gives up after a 500.
 */
function statusOfProbe(status: number): number {
  return status === 202 || status >= 500 ? 404 : status;
}

/** Limits each event, or a body that is not an event stream, to the maximum message size. */
function bound(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const limitRate = createRateLimit(messageRate);
  let bytes = 0;
  return new TransformStream({
    async transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxMessageBytes) throw new Error(`message exceeds ${maxMessageBytes} bytes`);
      const text = isStream ? Buffer.from(chunk).toString('latin1') : '';
      const events = text.split(/\r?\n\r?\n/).length - 1;
      if (events > 0) bytes = 0;
      await limitRate(events);
      controller.enqueue(chunk);
    },
  });
}

/** Without this error, the SDK would wait until the call times out. */
const connectionClosed = { code: -32_000, message: 'The server closed the connection before responding.' } as const;

/**
 * Closes the connection of a call as soon as it is canceled or times out. The SDK would only notify the server and keep
 * the response stream open until the server closes it. A call whose stream ends without a response fails.
 */
function endEveryRequest(transport: StreamableHTTPClientTransport): void {
  const open = new Map<string | number, AbortController>();
  const send = transport.send.bind(transport);
  transport.onmessage = (message) => {
    if ('id' in message && message.id !== undefined && !('method' in message)) open.delete(message.id);
  };
  transport.onclose = () => {
    for (const controller of open.values()) controller.abort();
  };
  transport.send = async (message, options) => {
    const controller = new AbortController();
    const canceled = options?.requestSignal;
    const requestSignal = canceled ? AbortSignal.any([canceled, controller.signal]) : controller.signal;
    if (!Array.isArray(message) && 'method' in message && 'id' in message) {
      const { id } = message;
      open.set(id, controller);
      const onRequestStreamEnd = () => {
        if (open.delete(id)) transport.onmessage?.({ jsonrpc: '2.0', id, error: connectionClosed });
      };
      return send(message, { ...options, requestSignal, onRequestStreamEnd }).catch((error: unknown) => {
        open.delete(id);
        throw error;
      });
    }
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) {
      open.get(cancelled)?.abort();
      open.delete(cancelled);
    }
    const timer = setTimeout(() => controller.abort(), noticeMs);
    return send(message, { ...options, requestSignal }).finally(() => clearTimeout(timer));
  };
}

function cancelledBy(message: JSONRPCMessage | JSONRPCMessage[]): string | number | undefined {
  if (Array.isArray(message) || !('method' in message)) return undefined;
  if (message.method !== 'notifications/cancelled') return undefined;
  return (message.params as { requestId?: string | number } | undefined)?.requestId;
}

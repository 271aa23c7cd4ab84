/** An MCP server behind an address: streamable HTTP. */
import type { FetchLike, JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createHttpClient } from '../../../lib/http-client.ts';
import type { Environment } from '../../settings/load.ts';
import { largestMessage } from './limits.ts';
import { createPace } from './pace.ts';

/** A message that has no answer is taken within this time. */
const noticeMs = 10_000;

/** How long the end of the session may take. */
const farewellMs = 1_000;

export interface HttpTransportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the proxy is named. */
  readonly env: Environment;
}

/** The SDK's transport over our own HTTP client, with an end for every request. */
export function openHttpTransport(
  Transport: typeof StreamableHTTPClientTransport,
  { url, headers, env }: HttpTransportOptions,
): StreamableHTTPClientTransport {
  const client = createHttpClient(env);
  const send: FetchLike = async (address, init = {}) => {
    const answer = await client.fetch(address, { ...init, redirect: init.redirect ?? 'manual' });
    const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true;
    const { status, statusText } = answer;
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
    const late = setTimeout(() => void client[Symbol.asyncDispose](), farewellMs);
    await transport.terminateSession().catch(() => undefined); // a courtesy; the server may be gone
    clearTimeout(late);
    await close();
    await client[Symbol.asyncDispose]();
  }
}

/** Lets no event, and no body that is no stream of events, grow beyond the largest message. */
function bound(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const pace = createPace();
  let bytes = 0;
  return new TransformStream({
    async transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > largestMessage) throw new Error(`it sent more than ${largestMessage} bytes at once`);
      const text = isStream ? Buffer.from(chunk).toString('latin1') : '';
      const events = text.split(/\r?\n\r?\n/).length - 1;
      if (events > 0) bytes = 0;
      await pace(events);
      controller.enqueue(chunk);
    },
  });
}

/** The SDK would wait for an answer that can no longer come until the time of the call is over. */
const brokenOff = { code: -32_000, message: 'The server closed the connection before it had answered.' } as const;

/**
 * A call that is cancelled, or has run out of time, lets go of its connection at once: the SDK would only tell the
 * server, and keep the answer's stream for as long as the server likes. And a call whose stream ends has failed.
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
    const requestSignal = controller.signal;
    if (!Array.isArray(message) && 'method' in message && 'id' in message) {
      const { id } = message;
      open.set(id, controller);
      const onRequestStreamEnd = () => {
        if (open.delete(id)) transport.onmessage?.({ jsonrpc: '2.0', id, error: brokenOff });
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

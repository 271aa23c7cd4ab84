/**
 * The minimal proxy for a chat: `node bare-proxy.ts PROVIDER_URL`. Prints its port. It reads a request, requests the
 * events from the provider, reads each of them, and responds with the whole text. It validates nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Agent } from 'undici';

const [providerUrl = ''] = process.argv.slice(2);
const { origin, pathname } = new URL(providerUrl);
const agent = new Agent();

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
  readonly usage?: object;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model, messages } = JSON.parse(await text(request)) as { model: string; messages: object[] };
  const body = JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } });
  const headers = { 'content-type': 'application/json' };
  const events = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
  let [content, usage, rest]: [string, object | undefined, string] = ['', undefined, ''];
  for await (const part of events.body as AsyncIterable<Buffer>) {
    const lines = (rest + part.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      const chunk = JSON.parse(line.slice(6)) as Chunk;
      content += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
  }
  response.writeHead(200, headers).end(JSON.stringify({ message: { role: 'assistant', content }, model, usage }));
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

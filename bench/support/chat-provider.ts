/**
 * A minimal chat provider in a separate process: `node chat-provider.ts TOKENS PAUSE_MS`. Prints its port. Streams one
 * token after each pause, or all at once without a pause; without streaming, it returns the same text.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const [tokens = 0, pauseMs = 0] = process.argv.slice(2).map(Number);
const token = 'word ';
const usage = { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 };
const head = { id: 'chatcmpl-1', created: 1, model: 'fake' };

const event = (data: object) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...data })}\n\n`;
const delta = event({ choices: [{ index: 0, delta: { content: token }, finish_reason: null }] });
const last = `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${event({ choices: [], usage })}data: [DONE]\n\n`;
const plain = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: token.repeat(tokens) }, finish_reason: 'stop' }],
  usage,
});

const server = createServer((request, response) => {
  void text(request).then((body) => {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(plain);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (pauseMs === 0) response.end(delta.repeat(tokens) + last);
    else stream(response);
  });
});

function stream(response: ServerResponse): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(delta);
    if (++sent < tokens) return;
    clearInterval(timer);
    response.end(last);
  }, pauseMs);
  response.once('close', () => clearInterval(timer));
}

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

/** An OpenAI-compatible provider for the pictures. Its transcript and its answer are written here. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const segments = [
  { start: 0, end: 2.9, speaker: 'A', text: 'Thanks for calling. Where do we stand with the pump?' },
  { start: 2.9, end: 6.4, speaker: 'B', text: 'It runs again. The seal was worn, so I replaced it on Tuesday.' },
  { start: 6.4, end: 9.8, speaker: 'A', text: 'Good. Can you send me the invoice before the tenth?' },
  { start: 9.8, end: 13.1, speaker: 'B', text: 'You will have it on Monday. I also need the old serial number.' },
  { start: 13.1, end: 15.2, speaker: 'A', text: 'I will look it up and write to you today.' },
];

/** The spoken text of the recording. */
export const spokenText = segments.map((segment) => segment.text).join(' ');

const transcript = { task: 'transcribe', language: 'english', duration: 15.2, text: spokenText, segments };

const answer = `Two things are open:

- **You**: look up the old serial number and write to them *today*.
- **They**: send the invoice on *Monday*, before the tenth.

The pump itself is done: the seal was replaced on Tuesday.`;

interface ChatRequest {
  readonly tools: readonly { readonly function: { readonly name: string } }[];
  readonly messages: readonly { readonly role: string }[];
}

/** A call of the tool, or the answer once the tool has run. */
function deltasOf({ tools, messages }: ChatRequest): readonly object[] {
  if (messages.at(-1)?.role === 'tool') return (answer.match(/\S+\s*/g) ?? []).map((content) => ({ content }));
  const { name } = tools.map((tool) => tool.function).find((tool) => tool.name.endsWith('read_text_file'))!;
  const call = { name, arguments: JSON.stringify({ path: 'call.srt' }) };
  return [{ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] }];
}

function* chunksOf(request: ChatRequest): Generator<string> {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted-chat' };
  const event = (data: object) => `data: ${JSON.stringify({ ...head, ...data })}\n\n`;
  const choice = (delta: object, reason: string | null) => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const deltas = deltasOf(request);
  for (const delta of deltas) yield event(choice(delta, null));
  yield event(choice({}, deltas.length === 1 ? 'tool_calls' : 'stop'));
  yield event({ choices: [], usage: { prompt_tokens: 412, completion_tokens: 58, total_tokens: 470 } });
  yield 'data: [DONE]\n\n';
}

export async function startScriptedProvider(): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  const server = createServer((request, response) => {
    void text(request.setEncoding('latin1')).then((body) => {
      if (request.url === '/v1/audio/transcriptions') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(transcript));
      } else {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end([...chunksOf(JSON.parse(body) as ChatRequest)].join(''));
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

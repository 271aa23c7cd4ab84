/** Providers for the engines that need one: each does what the kit asks for, and takes its time. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';

type Answer = (body: Buffer, response: ServerResponse) => Promise<void>;

/** Returns its base URL. It ends with the tests of the file. */
async function start(answer: Answer): Promise<string> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => answer(await buffer(request), response);
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy()); // the caller has left
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  afterAll(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function refuse(response: ServerResponse, message: string): void {
  const error = { message, type: 'invalid_request_error' };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

const headerBytes = 44;
const bytesPerSecond = 32_000;

/** Takes any sound in a WAV file of 16 kHz mono for words. Its times are OpenAI's: words without punctuation. */
export const startTranscriptionProvider = () =>
  start(async (body, response) => {
    await sleep(100);
    const wavAt = body.indexOf('RIFF');
    if (wavAt < 0) return refuse(response, 'Invalid file format.');
    const bytes = body.readUInt32LE(wavAt + 40);
    const samples = body.subarray(wavAt + headerBytes, wavAt + headerBytes + bytes);
    const isSpeech = samples.some((byte) => byte !== 0);
    const duration = bytes / bytesPerSecond;
    const text = isSpeech ? 'Yes, no. Hello.' : '';
    const segments = [
      { id: 0, start: 0, end: duration / 2, text: ' Yes, no.' },
      { id: 1, start: duration / 2, end: duration + 0.2, text: ' Hello.' },
    ];
    const words = ['Yes', 'no', 'Hello'].map((word, i) => ({ word, start: i / 4, end: (i + 1) / 4 }));
    const asked = (kind: string) => isSpeech && body.includes(`name="timestamp_granularities[]"\r\n\r\n${kind}\r\n`);
    response.setHeader('content-type', 'application/json');
    const times = { ...(asked('segment') && { segments }), ...(asked('word') && { words }) };
    response.end(JSON.stringify({ text, language: 'english', duration, ...times }));
  });

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: { readonly type: string };
}

/** Greets, in JSON if asked to; calls the tool that it is offered, and says what that answered. */
export const startChatProvider = () =>
  start(async (body, response) => {
    const { messages, tools = [], response_format: format } = JSON.parse(body.toString()) as ChatBody;
    const [tool] = tools;
    const toolOutput = messages.find(({ role }) => role === 'tool')?.content;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, finish: string | null = null) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    if (tool && toolOutput === undefined) {
      const call = { name: tool.function.name, arguments: '{"text":"alpha"}' };
      send({ tool_calls: [{ index: 0, id: 'call-1', type: 'function', function: call }] }, 'tool_calls');
    } else {
      const greeting = format?.type === 'json_object' ? ['{"greeting":', '"Hello."', '}'] : ['Hel', 'lo', '.'];
      for (const content of [...greeting, toolOutput ?? '']) {
        await sleep(50);
        send({ content });
      }
      send({}, 'stop');
    }
    response.end('data: [DONE]\n\n');
  });

interface SpeechBody {
  readonly input?: string;
  readonly response_format?: string;
  readonly speed?: number;
}

const soundPerCharacterMs = 60;
const rate = 24_000;

/** Hums: PCM of 24 kHz, the longer the longer the text, and the slower the speed. */
export const startSpeechProvider = () =>
  start(async (body, response) => {
    const { input, response_format: format, speed = 1 } = JSON.parse(body.toString()) as SpeechBody;
    if (format !== 'pcm') return refuse(response, 'response_format must be pcm');
    response.writeHead(200, { 'content-type': 'audio/pcm' });
    for (const _ of input ?? '') {
      if (response.destroyed) return;
      const samples = Int16Array.from(
        { length: (rate * soundPerCharacterMs) / 1000 / speed },
        (_, i) => 8000 * Math.sin(i / 20),
      );
      if (!response.write(Buffer.from(samples.buffer))) await new Promise((drained) => response.once('drain', drained));
      await sleep(1);
    }
    response.end();
  });

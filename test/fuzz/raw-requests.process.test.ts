/**
 * Mutated request heads and bodies, as raw bytes, against a service in a process of its own: it stays alive, every
 * answer is a declared one, and every answered request stands in the log. FUZZ_REQUESTS says how many (20,000 is the
 * long run), FUZZ_SEED repeats one.
 */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { spawnService } from '../support/child-service.ts';
import { heldToContract, toHeaders } from '../support/http.ts';
import { createRandom, fuzz, type FuzzedRequest, type SeedRequest } from './mutate.ts';

const requests = Number(process.env.FUZZ_REQUESTS ?? 1_000);
const seed = Number(process.env.FUZZ_SEED ?? 11);
const atOnce = 16;

/** A request that may be unfinished is given up when nothing has come for so long; one that is whole is waited for. */
const unfinishedMs = 300;
const wholeMs = 60_000;

test(`${requests} mutated requests (seed ${seed})`, { timeout: 60_000 + requests * 200 }, async () => {
  await using service = await spawnService({ env: { PARLANCE_SANDBOX: '1', NODE_ENV: 'test', LOG_LEVEL: 'debug' } });
  const random = createRandom(seed);
  const seeds = await seedRequests();
  const answered = new Set<string>();
  let sent = 0;

  const worker = async () => {
    while (sent < requests) {
      const number = sent++;
      const request = fuzz(seeds, random);
      const explain = (what: string) => `request ${number} of seed ${seed} ${what}:\n${shown(request.bytes)}`;
      const answers = readAnswers(request.bytes, await exchange(service.url, request), explain);
      if (request.isWhole) expect(answers, explain('was not answered')).not.toHaveLength(0);
      for (const { status, id } of answers) {
        expect(answered, explain(`got the id ${id}, which was another’s`)).not.toContain(id);
        expect(status, explain('made the service fail')).not.toBe(500);
        answered.add(id);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));

  const alive = await fetch(`${service.url}/healthz`);
  expect(alive.status, service.said.stderr).toBe(200);
  answered.add(alive.headers.get('x-request-id') ?? '');
  expect(answered.size).toBeGreaterThan(requests / 4);
  const logged = () => new Set(service.log().flatMap(({ msg, id }) => (msg === 'request' ? [id] : [])));
  await expect.poll(() => [...answered.difference(logged())]).toEqual([]);
  expect(service.log().filter(({ level }) => level >= 60)).toEqual([]);
});

/** All that comes back on a connection of its own. */
function exchange(url: string, { bytes, isWhole }: FuzzedRequest): Promise<Buffer> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const received: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(isWhole ? wholeMs : unfinishedMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('error', () => undefined); // a reset is an end, too
    socket.on('close', () => resolve(Buffer.concat(received)));
  });
}

interface FuzzAnswer {
  readonly status: number;
  readonly id: string;
}

const answerHead = /HTTP\/1\.1 ([1-5]\d\d) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/y;

/** Throws for an answer that is not declared, and for bytes that are no answer. */
function readAnswers(asked: Buffer, received: Buffer, explain: (what: string) => string): FuzzAnswer[] {
  const text = received.toString('latin1');
  const answers: FuzzAnswer[] = [];
  for (let at = 0; at < text.length;) {
    answerHead.lastIndex = at;
    const head = answerHead.exec(text);
    if (!head) throw new Error(explain(`was answered with bytes that are no answer: ${shown(received.subarray(at))}`));
    at = answerHead.lastIndex;
    const [, code, lines = ''] = head;
    if (code === '100') continue;
    const status = Number(code);
    const headers = toHeaders(
      lines
        .split('\r\n')
        .slice(0, -1)
        .flatMap((line) => line.split(/: ?(.*)/, 2)),
    );
    const { body, end } = readBody(text, at, headers);
    // Given up while it still came, or an answer without a body, to HEAD: nothing to hold against the contract.
    if (body !== undefined) {
      const routed = answers.length === 0 && !isBeforeRouting(body) ? requestLine(asked) : undefined;
      const place = routed ?? anywhereAt(body);
      try {
        heldToContract(place, { status, headers, text: Buffer.from(body, 'latin1').toString() });
      } catch (error) {
        throw new Error(explain((error as Error).message), { cause: error });
      }
    }
    answers.push({ status, id: headers.get('x-request-id') ?? '' });
    at = end;
  }
  return answers;
}

interface Body {
  /** Undefined for one that has not come as a whole. */
  readonly body: string | undefined;
  readonly end: number;
}

function readBody(text: string, at: number, headers: Headers): Body {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(text, at);
  const end = at + Number(headers.get('content-length') ?? 0);
  if (text.startsWith('HTTP/1.1 ', at)) return { body: undefined, end: at };
  return end > text.length ? { body: undefined, end: text.length } : { body: text.slice(at, end), end };
}

function readChunks(text: string, start: number): Body {
  let body = '';
  for (let at = start; ;) {
    const line = text.indexOf('\r\n', at);
    const length = Number.parseInt(text.slice(at, line), 16);
    const end = line + 2 + length + 2;
    if (line < 0 || end > text.length) return { body: undefined, end: text.length };
    if (length === 0) return { body, end };
    body += text.slice(line + 2, line + 2 + length);
    at = end;
  }
}

interface Place {
  readonly method: string;
  readonly path: string;
}

/** No operation, in the API whose shape the answer has: the target may be as damaged as the rest. */
function anywhereAt(body: string): Place {
  return { method: 'GET', path: body.startsWith('{"error":') ? '/v1' : '/' };
}

/** What is refused by its head alone belongs to no operation. */
function isBeforeRouting(body: string): boolean {
  return /"code":"(malformed.request|expectation.failed|headers.too.large)"/.test(body);
}

/** Only a line that the service must read in the same way is held to an operation of the contract. */
function requestLine(bytes: Buffer): Place | undefined {
  const [, method, path] = /^([A-Z]+) (\/\S*) HTTP\/1\.1\r\n/.exec(bytes.toString('latin1')) ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1', 0, 2_000));
}

async function seedRequests(): Promise<SeedRequest[]> {
  const wav = await readFile(new URL('../fixtures/half-a-second.wav', import.meta.url));
  const host = { Host: 'localhost', Accept: '*/*' };
  const json = { ...host, 'Content-Type': 'application/json' };
  const get = (target: string, headers: Record<string, string> = host) => ({
    method: 'GET',
    target,
    headers,
    body: Buffer.alloc(0),
  });
  const post = (target: string, value: unknown) => ({
    method: 'POST',
    target,
    headers: json,
    body: Buffer.from(JSON.stringify(value)),
  });
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'read aloud: yes no' },
  ];
  return [
    get('/healthz'),
    get('/openapi.json'),
    get('/api/v1/models'),
    get('/api/v1/transcribe?model=sandbox-transcribe'),
    get('/api/v1/transcribe/models'),
    get('/api/v1/tts/models'),
    get('/api/v1/tts/clips/AAAAAAAAAAAAAAAAAAAAAA', { ...host, Range: 'bytes=0-1' }),
    {
      ...get('/api/v1/chat', { ...host, Origin: 'http://localhost', 'Access-Control-Request-Method': 'POST' }),
      method: 'OPTIONS',
    },
    post('/api/v1/chat', { messages, temperature: 0.5, max_tokens: 20, top_p: 1, model: null }),
    post('/api/v1/chat', { messages: [{ role: 'user', content: 'Say \u00fc \u{1f600} \\ " now' }] }),
    post('/api/v1/chat/stream', { messages, voice_id: null, tts_model: null }),
    post('/api/v1/tts', { text: 'yes no hello', format: 'mp3' }),
    post('/api/v1/tts', { text: 'yes', format: 'wav', model: 'sandbox-speech', voice_id: 'en' }),
    multipart('/api/v1/transcribe', { model: 'sandbox-transcribe', language: 'en' }, wav),
    multipart('/api/v1/transcribe', {}, wav.subarray(0, 1_000)),
    post('/v1/chat/completions', { messages, tools: [], stream: true, stop: ['x'], response_format: { type: 'text' } }),
    post('/v1/responses', {
      input: 'Hi',
      instructions: 'Be brief.',
      stream: true,
      max_output_tokens: 20,
      store: false,
    }),
    post('/v1/responses', {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'seen' },
      ],
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }],
      text: { format: { type: 'json_schema', name: 'x', schema: {} } },
    }),
    post('/v1/audio/speech', { input: 'yes', voice: 'alloy', response_format: 'pcm', stream_format: 'sse' }),
    multipart('/v1/audio/translations', { model: 'whisper-1', 'keywords[]': 'Ada', response_format: 'srt' }, wav),
  ];

  function multipart(target: string, fields: Readonly<Record<string, string>>, file: Buffer): SeedRequest {
    const part = (head: string, body: Buffer | string) => [
      `--edge\r\nContent-Disposition: form-data; ${head}\r\n\r\n`,
      body,
      '\r\n',
    ];
    const pieces = [
      ...Object.entries(fields).flatMap(([name, value]) => part(`name="${name}"`, value)),
      ...part('name="file"; filename="a.wav"', file),
      '--edge--\r\n',
    ];
    const body = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
    return { method: 'POST', target, headers: { ...host, 'Content-Type': 'multipart/form-data; boundary=edge' }, body };
  }
}

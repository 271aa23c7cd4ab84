/** The service while its process has few file descriptors left, or none: each call succeeds or is `overloaded`. */
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';

const timeout = 240_000; // dozens of calls that start real programs, on a machine that may be busy
const patience = { timeout: 30_000 };

/** Loaded into the service: the first SIGUSR2 opens files until none is left, the next closes them; and so on, each time with two more left. */
const taker = `
import { closeSync, openSync } from 'node:fs';
let free = 0;
let taken = [];
process.on('SIGUSR2', () => {
  if (taken.length > 0) {
    for (const descriptor of taken.splice(0)) closeSync(descriptor);
    console.error('released ' + free);
    free += 2;
    return;
  }
  try {
    for (;;) taken.push(openSync('/dev/null'));
  } catch {}
  for (let count = 0; count < free; count++) closeSync(taken.pop());
  console.error('taken but ' + free);
});
`;

async function startLimitedService(): Promise<ChildService> {
  const directory = await temporaryDirectory();
  const model = join(directory, 'controls.bin'); // the stand-in transcribes as its model is called
  await writeFiles(directory, { 'taker.mjs': taker });
  await writeToneModel(model);
  const program = join(import.meta.dirname, '../fixtures/whisper/whisper-cli.mjs');
  return startChildService({
    config: `engines:
  local: { use: whisper-cli, program: ${program}, models: [{ id: controls, file: ${model} }] }
  espeak: { use: espeak }
`,
    through: () => ['/bin/sh', '-c', 'ulimit -n 128; exec "$@"', 'sh'],
    nodeOptions: ['--import', pathToFileURL(join(directory, 'taker.mjs')).href],
  });
}

interface Call {
  readonly path: string;
  readonly body: FormData | string;
}

const recording = toneWav({ words: ['alpha'], rate: 8_000 }); // at 16 kHz, it would need no decoder

function calls(): Call[] {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(recording)], 'recording.wav'));
  const speech = (format: string) => ({ path: '/api/v1/tts', body: JSON.stringify({ text: 'Hello.', format }) });
  return [{ path: '/api/v1/transcribe', body: form }, ...['wav', 'mp3', 'opus'].map(speech)];
}

/** A connection that is open before the descriptors go. */
async function openConnection(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const send = async (path: string, body?: Call['body']) => {
    const encoded = new Response(body);
    const bytes = Buffer.from(await encoded.arrayBuffer());
    const type = typeof body === 'string' ? 'application/json' : (encoded.headers.get('content-type') ?? 'text/plain');
    return new Promise<{ status: number; retryAfter: string | undefined; bytes: Buffer }>((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      request(url + path, { agent, method, headers: { 'content-type': type, 'content-length': bytes.length } })
        .once('response', (answer) => {
          const { statusCode: status = 0, headers } = answer;
          buffer(answer).then((found) => resolve({ status, retryAfter: headers['retry-after'], bytes: found }), reject);
        })
        .once('error', reject)
        .end(bytes);
    });
  };
  expect((await send('/healthz')).status).toBe(200);
  return { send, close: () => agent.destroy() };
}

describe('few file descriptors', () => {
  test('make calls overloaded, never crash the service, and leak nothing', { timeout }, async () => {
    const service = await startLimitedService();
    const says = (text: string) => expect.poll(() => service.said.stderr, patience).toContain(`${text}\n`);

    async function callAll(): Promise<string[]> {
      return Promise.all(
        calls().map(async ({ path, body }, index) => {
          const { status, retryAfter, bytes } = await connections[index]!.send(path, body);
          if (status === 200) return 'ok';
          expect(retryAfter, path).toBe('1');
          return `${status} ${(JSON.parse(bytes.toString()) as { code: string }).code}`;
        }),
      );
    }

    let connections: Awaited<ReturnType<typeof openConnection>>[] = [];
    const connect = async () => {
      connections.forEach(({ close }) => close());
      connections = await Promise.all(calls().map(() => openConnection(service.url)));
    };

    const seen: string[][] = [];
    for (let free = 0; free < 20; free += 2) {
      await connect();
      service.kill('SIGUSR2');
      await says(`taken but ${free}`);
      seen.push(await callAll());
      service.kill('SIGUSR2');
      await says(`released ${free}`);
    }
    expect(seen[0]).toEqual(Array(4).fill('503 overloaded'));
    for (const outcome of seen.flat()) expect(['ok', '503 overloaded']).toContain(outcome);
    await connect();
    expect(await callAll()).toEqual(['ok', 'ok', 'ok', 'ok']);
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
  });
});

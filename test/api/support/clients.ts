/** Everyday clients, each as its users call it, sending a file as the field `file` of a form. */
import { execFile } from 'node:child_process';
import { createReadStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { toHeaders, type Unchecked } from '../../support/http.ts';
import { boundary, multipartType, part } from './forms.ts';
import { parseAnswer } from './raw-answer.ts';

export interface Client {
  readonly name: string;
  /** Rejects when the client reports a broken connection instead of an answer. */
  upload(url: string, path: string): Promise<Unchecked>;
}

export const clients: readonly Client[] = [
  { name: 'curl with Content-Length', upload: (url, path) => curl(url, path, '-H', 'Expect:') },
  { name: 'curl with Expect: 100-continue', upload: (url, path) => curl(url, path, '-H', 'Expect: 100-continue') },
  {
    name: 'curl in chunks',
    upload: (url, path) => curl(url, path, '-H', 'Transfer-Encoding: chunked', '-H', 'Expect:'),
  },
  {
    name: 'curl in chunks with Expect: 100-continue',
    upload: (url, path) => curl(url, path, '-H', 'Transfer-Encoding: chunked', '-H', 'Expect: 100-continue'),
  },
  {
    name: 'curl without keep-alive',
    upload: (url, path) => curl(url, path, '-H', 'Expect:', '-H', 'Connection: close'),
  },
  { name: 'fetch with FormData', upload: fetchForm },
  { name: 'fetch with a stream', upload: fetchStream },
  { name: 'node:http with Content-Length', upload: (url, path) => nodeHttp(url, path, { chunked: false }) },
  { name: 'node:http in chunks', upload: (url, path) => nodeHttp(url, path, { chunked: true }) },
];

/** `curl -F file=@path`, with more arguments. */
async function curl(url: string, path: string, ...args: readonly string[]): Promise<Unchecked> {
  const line = ['--silent', '--show-error', '--include', '--max-time', '25', '-F', `file=@${path}`, ...args, url];
  const printed = await new Promise<string>((resolve, reject) => {
    execFile('curl', line, { encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error) reject(new Error(`curl ends with ${String(error.code)}: ${stderr}`));
      else resolve(stdout);
    });
  });
  const answer = parseAnswer(printed);
  if (!answer) throw new Error(`curl printed no whole answer: ${printed}`);
  return answer;
}

async function fetchForm(url: string, path: string): Promise<Unchecked> {
  const form = new FormData();
  form.set('file', await openAsBlob(path), 'recording.webm');
  return readFetched(await fetch(url, { method: 'POST', body: form }));
}

async function fetchStream(url: string, path: string): Promise<Unchecked> {
  const body = Readable.toWeb(Readable.from(formOf(path))) as ReadableStream<Uint8Array>;
  return readFetched(await fetch(url, { method: 'POST', headers: multipartType, body, duplex: 'half' }));
}

async function readFetched(response: Response): Promise<Unchecked> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function nodeHttp(url: string, path: string, { chunked }: { chunked: boolean }): Promise<Unchecked> {
  const length = (await stat(path)).size + formFrame.reduce((sum, piece) => sum + piece.length, 0);
  const framing = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
  const sending = request(url, { method: 'POST', headers: { ...multipartType, ...framing } });
  const body = Readable.from(formOf(path)).pipe(sending);
  const [answer] = (await once(body, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: toHeaders(answer.rawHeaders), text: await text(answer) };
}

const formFrame = [
  part({ name: 'file', value: '', filename: 'recording.webm' }).subarray(0, -2),
  Buffer.from(`\r\n--${boundary}--\r\n`),
] as const;

async function* formOf(path: string): AsyncGenerator<Buffer> {
  const [before, behind] = formFrame;
  yield before;
  yield* createReadStream(path) as AsyncIterable<Buffer>;
  yield behind;
}

/** A service whose only engine is tts, with a test provider behind it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { SpeechCall } from '../../../engines/contract/index.ts';
import { heldToContract, type Answer } from '../../support/http.ts';
import type { Behavior, ProviderCall } from '../../support/provider.ts';
import { run } from '../../support/programs.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { startHosted, type Hosted, type HostedOptions } from '../providers/support.ts';

export { key } from '../providers/support.ts';

/** An MPEG 1 layer III frame of silence: 128 kbit/s, 44.1 kHz, 1152 samples. */
export const mp3Frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc0]), Buffer.alloc(413)]);
export const mp3 = Buffer.concat(Array.from({ length: 20 }, () => mp3Frame));

/** Tags that may follow the frames of a file, by name. */
export const trailingTags: Readonly<Record<string, Buffer>> = (() => {
  const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(124, 'title'), Buffer.from([255])]);
  const enhanced = Buffer.concat([Buffer.from('TAG+'), Buffer.alloc(223, 'x')]);
  const syncsafe = [(300 >> 7) & 0x7f, 300 & 0x7f];
  const id3v2 = (mark: string) => Buffer.from([...Buffer.from(mark), 4, 0, 0x10, 0, 0, ...syncsafe]);
  const appended = Buffer.concat([id3v2('ID3'), Buffer.alloc(300, 'TIT2'), id3v2('3DI')]);
  const end = (version: number, items: Buffer, flags: number) => {
    const bytes = Buffer.alloc(32);
    bytes.write('APETAGEX', 'latin1');
    [version, items.length + 32, 1, flags].forEach((value, at) => bytes.writeUInt32LE(value, 8 + 4 * at));
    return bytes;
  };
  const item = (length: number) =>
    Buffer.concat([
      Buffer.from([length & 255, length >> 8, 0, 0, 0, 0, 0, 0]),
      Buffer.from('Title\0'),
      Buffer.alloc(length, 'y'),
    ]);
  const ape1 = Buffer.concat([item(700), end(1000, item(700), 0)]);
  const ape2 = (items: Buffer) => Buffer.concat([end(2000, items, 0xa000_0000), items, end(2000, items, 0x8000_0000)]);
  return {
    ID3v1: id3v1,
    'ID3v1 with its extension': Buffer.concat([enhanced, id3v1]),
    'ID3v2.4 with a footer': appended,
    APEv1: ape1,
    'APEv1 and ID3v1': Buffer.concat([ape1, id3v1]),
    'APEv2 and ID3v1': Buffer.concat([ape2(item(700)), id3v1]),
    'APEv2 without a header': Buffer.concat([item(700), end(2000, item(700), 0)]),
    'APEv2 with a picture': ape2(item(60_000)),
    'all of them': Buffer.concat([appended, ape2(item(20_000)), appended, ape1, enhanced, id3v1]),
  };
})();

/** 24 kHz mono, 16 bits: a square wave, which survives a codec. */
export function pcm(seconds: number, { amplitude = 8000, rate = 24_000 } = {}): Buffer {
  const samples = Int16Array.from({ length: seconds * rate }, (_, i) => (i % 100 < 50 ? amplitude : -amplitude));
  return Buffer.from(samples.buffer);
}

/** 16-bit mono; `says` is the data length in the header, by default the true one. */
export function wav(
  samples: Buffer,
  { rate = 24_000, says = samples.length }: { readonly rate?: number; readonly says?: number } = {},
): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\xff\xff\xff\xffWAVEfmt ', 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(says, 40);
  return Buffer.concat([head, samples]);
}

/** The audio as decoded by ffmpeg: mono, 8 kHz. */
export async function decode(ffmpeg: string, audio: Uint8Array): Promise<{ seconds: number; samples: Int16Array }> {
  const directory = await temporaryDirectory();
  const files = { in: join(directory, 'in'), out: join(directory, 'out') };
  await writeFile(files.in, audio);
  await run(ffmpeg, ['-v', 'error', '-i', files.in, '-f', 's16le', '-ac', '1', '-ar', '8000', files.out]);
  const samples = new Int16Array(new Uint8Array(await readFile(files.out)).buffer);
  return { seconds: samples.length / 8000, samples };
}

/** Reads the whole request, then sends this audio. */
export function speaks(audio: Uint8Array, mediaType = 'audio/mpeg'): Behavior {
  return async ({ body, socket }) => {
    await body;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${mediaType}\r\nContent-Length: ${audio.length}\r\n\r\n`);
    socket.write(audio);
  };
}

/** Reads the whole request, then sends response headers without a length and these bytes, without an end. */
export function begins(audio: Uint8Array, mediaType = 'audio/mpeg'): Behavior {
  return async ({ body, socket }) => {
    await body;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${mediaType}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    socket.write(chunk(audio));
  };
}

export function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export async function bodyOf(call: ProviderCall | undefined): Promise<Record<string, unknown>> {
  if (!call) throw new Error('the provider was not asked');
  return JSON.parse(String(await call.body)) as Record<string, unknown>;
}

export function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (!body) throw new Error('an answer without a body');
  return body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
}

export interface Spoken extends Answer {
  readonly bytes: Buffer;
}

export interface Tts extends Hosted {
  /** POSTs to /tts and validates every response against the contract. */
  speak(fields?: Readonly<Record<string, unknown>>): Promise<Spoken>;
}

/** Disposed at the end of the test. */
export async function startTts(behavior: Behavior = speaks(mp3), options?: HostedOptions): Promise<Tts> {
  const hosted = await startHosted('tts', behavior, options);
  return { ...hosted, speak: (fields) => speak(hosted.service, fields) };
}

/** A call of the engine itself, for fields that /tts does not have. */
export async function synthesize({ service }: Pick<Tts, 'service'>, call: Partial<SpeechCall>): Promise<Buffer> {
  const [model] = service.service.registry.of('speech').all;
  const whole = { text: 'Good morning.', model: model!.engineId, format: 'mp3' as const, ...call };
  const speech = await model!.engine.synthesize(whole, { signal: new AbortController().signal });
  return buffer(speech.audio);
}

export async function speak(
  { post }: Pick<TestService, 'post'>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Spoken> {
  const response = await post('/tts', { text: 'Good morning.', ...fields });
  const bytes = Buffer.from(await response.arrayBuffer());
  const { status, headers } = response;
  const answer = heldToContract({ method: 'POST', path: '/api/v1/tts' }, { status, headers, text: String(bytes) });
  return Object.defineProperty(answer as Spoken, 'bytes', { value: bytes });
}

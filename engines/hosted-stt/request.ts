/** The multipart form of an upload, streamed from the recording's file. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { EngineError, type Container, type Recording } from '../contract/index.ts';
import type { HttpBody } from '../lib/provider/transport.ts';

/** Providers detect the container by the file extension. */
const fileNames: Readonly<Record<Container, string>> = {
  webm: 'recording.webm',
  mp4: 'recording.mp4',
  ogg: 'recording.ogg',
  mp3: 'recording.mp3',
  wav: 'recording.wav',
  flac: 'recording.flac',
};

export interface Form {
  readonly contentType: string;
  /** Each call reads the file from the start. */
  readonly body: () => HttpBody;
}

export type Field = readonly [name: string, value: string];

/** The fields come first, so that a provider can reject them before it has received the file. */
export function createForm(fields: readonly Field[], recording: Recording): Form {
  const boundary = `parlance-${randomBytes(16).toString('hex')}`;
  const texts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `form-data; name="file"; filename="${fileNames[recording.container]}"`;
  const head = Buffer.from(
    `${texts.join('')}--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${recording.mediaType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* contentOf(recording);
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: () => ({ bytes: head.length + recording.bytes + tail.length, chunks: chunks() }),
  };
}

async function* contentOf({ path }: Recording): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new EngineError('engine-failed', 'The recording could not be read.', { cause });
  }
}

/**
 * Encoder worker thread. Each session has a port and an encoder, and answers each block with the encoded bytes that are
 * available.
 */
import { readFile } from 'node:fs/promises';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { createEncoder } from 'wasm-media-encoders';
import { pcmFormat } from '../../../engines/contract/index.ts';
import { toFloats, toSamples16 } from '../../../lib/samples.ts';
import { Resampler } from '../resample.ts';
import { markMp3, markOgg } from './synthetic-mark.ts';

export interface EncoderJob {
  readonly format: 'mp3' | 'ogg' | 'pcm';
  readonly sampleRate: number;
}

/** Messages of a session: the job, then blocks of samples, then `end`. */
export type EncoderRequest = EncoderJob | Int16Array<ArrayBuffer> | 'end';

/** An error is the last response of a session. */
export type EncoderResponse = Uint8Array<ArrayBuffer> | Error;

interface Encoder {
  readonly encode: (samples: [Float32Array]) => Uint8Array;
  readonly finalize: () => Uint8Array;
}

/**
 * Bit rate in kbit/s, valid in every MPEG version. A constant bit rate lets players compute the duration of a stream.
 */
const mp3Bitrate = 64;

/**
 * The WASM files are read once. Each session instantiates its own encoder, because an ogg encoder leaks 220 KB per use.
 */
const binaries = { mp3: once(() => read('mp3')), ogg: once(() => read('ogg')) };

parentPort?.on('message', (port: MessagePort) => {
  let encoder: Encoder | undefined;

  async function respond(request: EncoderRequest): Promise<Uint8Array<ArrayBuffer>> {
    if (request === 'end') return copy(encoder?.finalize());
    if (request instanceof Int16Array) return copy(encoder?.encode([toFloats(request)]));
    encoder = await start(request);
    return new Uint8Array();
  }

  port.on('message', (request: EncoderRequest) => {
    respond(request).then(
      (bytes) => port.postMessage(bytes satisfies EncoderResponse, [bytes.buffer]),
      (error: unknown) => port.postMessage(error),
    );
  });
});

async function start({ format, sampleRate }: EncoderJob): Promise<Encoder> {
  if (format === 'pcm') return createResampler(sampleRate);
  const common = { sampleRate, channels: 1 } as const;
  if (format === 'mp3') {
    const mp3 = await createEncoder('audio/mpeg', await binaries.mp3());
    mp3.configure({ ...common, bitrate: mp3Bitrate });
    return marked(mp3, markMp3);
  }
  const ogg = await createEncoder('audio/ogg', await binaries.ogg());
  ogg.configure(common);
  return marked(ogg, markOgg);
}

/** Marks the encoder's output as synthetic, by changing its first bytes. */
function marked(encoder: Encoder, mark: (beginning: Uint8Array) => Uint8Array): Encoder {
  let isMarked = false;
  const markOnce = (bytes: Uint8Array) => {
    if (isMarked || bytes.length === 0) return bytes;
    isMarked = true;
    return mark(bytes);
  };
  return {
    encode: (samples) => markOnce(encoder.encode(samples)),
    finalize: () => markOnce(encoder.finalize()),
  };
}

function createResampler(sampleRate: number): Encoder {
  const resampler = new Resampler(sampleRate, pcmFormat.sampleRate);
  return {
    encode: ([samples]) => toBytes(resampler.push(samples)),
    finalize: () => toBytes(resampler.flush()),
  };
}

function read(format: 'mp3' | 'ogg'): Promise<Uint8Array> {
  return readFile(new URL(import.meta.resolve(`wasm-media-encoders/wasm/${format}`)));
}

/** Copies the bytes, because the encoder reuses the returned memory. */
function copy(bytes: Uint8Array = new Uint8Array()): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}

const toBytes = (floats: Float32Array): Uint8Array => new Uint8Array(toSamples16(floats).buffer);

/** Caches the result of `make`. Failures are not cached: the next call retries. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

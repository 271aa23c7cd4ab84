/** The thread that encodes: each speech has a port and an encoder, which answers each block with the bytes that are ready. */
import { readFile } from 'node:fs/promises';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { createEncoder } from 'wasm-media-encoders';

export interface EncoderJob {
  readonly format: 'mp3' | 'ogg';
  readonly sampleRate: number;
}

/** What is to be made, its samples, its end. */
export type Question = EncoderJob | Int16Array<ArrayBuffer> | 'end';

/** Of an error no other answer follows. */
export type Answer = Uint8Array<ArrayBuffer> | Error;

interface Encoder {
  readonly encode: (samples: [Float32Array]) => Uint8Array;
  readonly finalize: () => Uint8Array;
}

/** kbit/s, a rate that every MPEG version has. Constant, so that players know the length of what they stream. */
const mp3Bitrate = 64;

/** Read once; every speech has an instance of its own, since one of ogg keeps 220 KB of each that it has encoded. */
const binaries = { mp3: once(() => read('mp3')), ogg: once(() => read('ogg')) };

parentPort?.on('message', (port: MessagePort) => {
  let encoder: Encoder | undefined;

  async function answer(question: Question): Promise<Uint8Array<ArrayBuffer>> {
    if (question === 'end') return copy(encoder?.finalize());
    if (question instanceof Int16Array) return copy(encoder?.encode([toFloat(question)]));
    encoder = await start(question);
    return new Uint8Array();
  }

  port.on('message', (question: Question) => {
    answer(question).then(
      (bytes) => port.postMessage(bytes satisfies Answer, [bytes.buffer]),
      (error: unknown) => port.postMessage(error),
    );
  });
});

async function start({ format, sampleRate }: EncoderJob): Promise<Encoder> {
  const common = { sampleRate, channels: 1 } as const;
  if (format === 'mp3') {
    const mp3 = await createEncoder('audio/mpeg', await binaries.mp3());
    mp3.configure({ ...common, bitrate: mp3Bitrate });
    return mp3;
  }
  const ogg = await createEncoder('audio/ogg', await binaries.ogg());
  ogg.configure(common);
  return ogg;
}

function read(format: EncoderJob['format']): Promise<Uint8Array> {
  return readFile(new URL(import.meta.resolve(`wasm-media-encoders/wasm/${format}`)));
}

/** The encoder goes on using the memory that it answers with. */
function copy(bytes: Uint8Array = new Uint8Array()): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}

function toFloat(samples: Int16Array): Float32Array {
  return Float32Array.from(samples, (sample) => sample / 32_768);
}

/** A failure is not remembered: the next call tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

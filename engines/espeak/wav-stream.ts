/** Reads a mono s16 WAV file while a program writes it, ignoring the lengths in its header, which are not final. */
import type { Pcm } from '../contract/index.ts';

/** A header has 44 bytes, or more if other chunks precede the samples. */
const maxHeader = 4_096;

/** Resolves once the header has arrived, or with undefined if the source is empty. */
export async function readWav(bytes: AsyncIterable<Uint8Array>): Promise<Pcm | undefined> {
  const source = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const header = readHeader(head);
    if (header) return { sampleRate: header.sampleRate, samples: samplesOf(head.subarray(header.length), source) };
    const next = await source.next();
    if (next.done === true && head.length === 0) return undefined;
    if (next.done === true || head.length > maxHeader) throw new Error('not a WAV file');
    head = Buffer.concat([head, next.value]);
  }
}

/** Undefined while the header is incomplete. */
function readHeader(head: Buffer): { readonly sampleRate: number; readonly length: number } | undefined {
  const data = head.indexOf('data', 36, 'latin1');
  if (data === -1 || head.length < data + 8) return undefined;
  const format = head.indexOf('fmt ', 12, 'latin1');
  if (format === -1 || format > data) throw new Error('the WAV file has no fmt chunk');
  return { sampleRate: head.readUInt32LE(format + 12), length: data + 8 };
}

async function* samplesOf(first: Buffer, source: AsyncIterator<Uint8Array>): AsyncGenerator<Int16Array> {
  let rest: Uint8Array = first;
  for await (const chunk of { [Symbol.asyncIterator]: () => source }) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 2);
    rest = bytes.subarray(whole);
    if (whole > 0) yield toSamples(bytes.subarray(0, whole));
  }
  if (rest.length > 1) yield toSamples(rest.subarray(0, rest.length - (rest.length % 2)));
}

/** An Int16Array needs an even byte offset; copies the bytes otherwise. */
function toSamples(bytes: Uint8Array): Int16Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes);
  return new Int16Array(buffer, byteOffset, length / 2);
}

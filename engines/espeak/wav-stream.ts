/** Reads a WAV file of mono s16 while a program writes it: the lengths in its header mean nothing yet. */
import type { Pcm } from '../contract/index.ts';

/** A header is 44 bytes, more when other chunks come before the samples. */
const longestHeader = 4_096;

/** Resolves once the header is there; undefined when nothing comes at all. */
export async function readWav(bytes: AsyncIterable<Uint8Array>): Promise<Pcm | undefined> {
  const source = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const header = readHeader(head);
    if (header) return { sampleRate: header.sampleRate, samples: samplesOf(head.subarray(header.length), source) };
    const next = await source.next();
    if (next.done === true && head.length === 0) return undefined;
    if (next.done === true || head.length > longestHeader) throw new Error('what came is no WAV file');
    head = Buffer.concat([head, next.value]);
  }
}

/** Undefined: more of it has to come. */
function readHeader(head: Buffer): { readonly sampleRate: number; readonly length: number } | undefined {
  const data = head.indexOf('data', 36, 'latin1');
  if (data === -1 || head.length < data + 8) return undefined;
  const format = head.indexOf('fmt ', 12, 'latin1');
  if (format === -1 || format > data) throw new Error('the WAV file has no format');
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

/** Samples must begin at an even address; where they do not, they are copied. */
function toSamples(bytes: Uint8Array): Int16Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes);
  return new Int16Array(buffer, byteOffset, length / 2);
}

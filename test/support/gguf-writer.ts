/** Writes GGUF files, version 3 (ggml's docs/gguf.md). */
import { halfPrecision } from './ggml-writer.ts';

export interface GgufTensor {
  readonly name: string;
  readonly dimensions: readonly number[];
  /** Of ggml: 0 32 bits, 1 16 bits. */
  readonly type: number;
  readonly data: Buffer;
}

export type GgufValue = string | number | boolean | { readonly float: number } | readonly string[] | readonly number[];

export const plainTensor = (name: string, dimensions: readonly number[], data: Float32Array): GgufTensor => ({
  ...{ name, dimensions, type: 0 },
  data: Buffer.from(data.buffer),
});

export const halfTensor = (name: string, dimensions: readonly number[], data: Float32Array): GgufTensor => ({
  ...{ name, dimensions, type: 1 },
  data: Buffer.from(halfPrecision(data).buffer),
});

export function ggufFile(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  const entries = Object.entries(metadata);
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) parts.push(text(key), valueOf(value));
  let offset = 0;
  for (const { name, dimensions, type, data } of tensors) {
    parts.push(text(name), u32(dimensions.length), ...dimensions.map(u64), u32(type), u64(offset));
    offset += data.length + padding(data.length).length;
  }
  const head = Buffer.concat(parts);
  return Buffer.concat([head, padding(head.length), ...tensors.flatMap(({ data }) => [data, padding(data.length)])]);
}

function valueOf(value: GgufValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(8), text(value)]);
  if (typeof value === 'number') return Buffer.concat([u32(4), u32(value)]);
  if (typeof value === 'boolean') return Buffer.concat([u32(7), Buffer.from([value ? 1 : 0])]);
  if ('float' in value) return Buffer.concat([u32(6), written(4, (bytes) => bytes.writeFloatLE(value.float))]);
  const items = value.map((item) => (typeof item === 'string' ? text(item) : u32(item)));
  return Buffer.concat([u32(9), u32(typeof value[0] === 'string' ? 8 : 5), u64(items.length), ...items]);
}

function written(length: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(length);
  write(bytes);
  return bytes;
}

const u32 = (value: number) => written(4, (bytes) => bytes.writeUInt32LE(value));
const u64 = (value: number) => written(8, (bytes) => bytes.writeBigUInt64LE(BigInt(value)));
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const padding = (length: number) => Buffer.alloc((32 - (length % 32)) % 32);

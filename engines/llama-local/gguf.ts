/**
 * Reads a GGUF file without loading it: checks that it is complete, and estimates its memory. Format: ggml's
 * docs/gguf.md, version 3.
 */
import { readSync } from 'node:fs';
import { withRegularFile } from '../../lib/regular-file.ts';
import { Unusable } from '../lib/model-files.ts';

export interface GgufFile {
  readonly bytes: number;
  /** Size of the KV cache per token of context. */
  readonly cacheBytes: number;
  /** Context size in tokens that the model was trained for, if the file states it. */
  readonly contextLength: number | undefined;
}

/**
 * Limits that no model exceeds. `texts` applies to all lists together: a vocabulary has up to 300,000, and twice as
 * many merges. `bytes` applies to the part before the tensors. Without limits, a sparse file could block the process,
 * because reading is synchronous.
 */
const limits = { entries: 10_000, tensors: 100_000, texts: 2_000_000, bytes: 2 ** 27, name: 1_024 } as const;

/** Type numbers of metadata values. */
const [stringType, arrayType] = [8, 9];
const sizes: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };

/** Elements and bytes of a block, by the type of the tensor (ggml.h). The length of other types is not checked. */
const blocks: Readonly<Record<number, readonly [elements: number, bytes: number]>> = {
  ...{
    0: [1, 4],
    1: [1, 2],
    30: [1, 2],
    2: [32, 18],
    3: [32, 20],
    6: [32, 22],
    7: [32, 24],
    8: [32, 34],
    20: [32, 18],
  },
  ...{ 10: [256, 84], 11: [256, 110], 12: [256, 144], 13: [256, 176], 14: [256, 210], 23: [256, 136], 39: [32, 17] },
};

/**
 * Throws `Unusable`. Synchronous, as in whisper-cli: a chain of tiny reads takes ten times as long through the thread
 * pool.
 */
export function readGgufFile(path: string): GgufFile {
  return withRegularFile(path, (file, bytes) => judge(new Reader(file, bytes), bytes));
}

function judge(reader: Reader, bytes: number): GgufFile {
  if (bytes < 24 || reader.u32() !== 0x46554747) throw new Unusable('it is not a GGUF model');
  const version = reader.u32();
  if (version !== 3) throw new Unusable(`its GGUF version is ${version}; supported: 3`);
  const [tensors, entries] = [reader.count(limits.tensors), reader.count(limits.entries)];
  const metadata = new Map<string, number | string>();
  for (let entry = 0; entry < entries; entry += 1) {
    const [key, value] = [reader.text(), readValue(reader)];
    if (value !== undefined) metadata.set(key, value);
  }
  let end = 0;
  for (let tensor = 0; tensor < tensors; tensor += 1) end = Math.max(end, readTensor(reader));
  const alignment = metadata.get('general.alignment') ?? 32;
  const begin = Math.ceil(reader.at / Number(alignment)) * Number(alignment);
  if (tensors === 0 || !(begin + end <= bytes)) throw new Unusable(`it is cut: ${bytes} bytes of ${begin + end}`);
  const needs = needsOf(metadata);
  // Each number in the cache is computed with its own weights.
  if (!(needs.cacheBytes <= bytesPerCached * bytes))
    throw new Unusable('it is smaller than its numbers of heads and layers say');
  return { bytes, ...needs };
}

/** Returns undefined for values that are not used, such as lists. */
function readValue(reader: Reader): number | string | undefined {
  const type = reader.u32();
  if (type === stringType) return reader.shortText();
  if (type !== arrayType) return reader.number(type);
  const [itemType, items] = [reader.u32(), reader.u64()];
  const size = sizes[itemType];
  if (size !== undefined) reader.skip(size * items);
  else if (itemType === stringType) reader.skipTexts(items);
  else throw new Unusable('it has lists of lists');
  return undefined;
}

/** End of the tensor's data, counted from the beginning of all data. */
function readTensor(reader: Reader): number {
  reader.text();
  const dimensions = reader.u32();
  if (dimensions > 8) throw new Unusable('it is not a GGUF model');
  let elements = 1;
  for (let dimension = 0; dimension < dimensions; dimension += 1) elements *= reader.u64();
  const [type, offset] = [reader.u32(), reader.u64()];
  const [perBlock, bytes] = blocks[type] ?? [1, 0];
  return offset + Math.ceil(elements / perBlock) * bytes;
}

/** A key and a value, 16 bits each. */
const bytesPerCached = 4;

/** The cache has a key and a value for each layer. If the file lacks the sizes, `cacheBytes` is 0. */
function needsOf(metadata: ReadonlyMap<string, number | string>): Pick<GgufFile, 'cacheBytes' | 'contextLength'> {
  const architecture = String(metadata.get('general.architecture'));
  const numberAt = (key: string) => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === 'number' ? value : undefined;
  };
  const heads = numberAt('attention.head_count') ?? 0;
  const headSize = numberAt('attention.key_length') ?? (heads === 0 ? 0 : (numberAt('embedding_length') ?? 0) / heads);
  const cached = (numberAt('attention.head_count_kv') ?? heads) * headSize * (numberAt('block_count') ?? 0);
  return { cacheBytes: Math.round(bytesPerCached * cached), contextLength: numberAt('context_length') };
}

/** Reads little-endian numbers in windows, so that the tensors are not read. */
class Reader {
  readonly #file: number;
  readonly #size: number;
  #window = Buffer.alloc(0);
  #begin = 0;
  #texts = 0;
  at = 0;

  constructor(file: number, size: number) {
    this.#file = file;
    this.#size = size;
  }

  u32(): number {
    return this.#take(4).readUInt32LE();
  }

  /** Inexact above 2^53, where every check fails. */
  u64(): number {
    return Number(this.#take(8).readBigUInt64LE());
  }

  count(most: number): number {
    const count = this.u64();
    if (count > most) throw new Unusable('it is not a GGUF model');
    return count;
  }

  number(type: number): number | undefined {
    const size = sizes[type];
    if (size === undefined) throw new Unusable('it is not a GGUF model');
    const bytes = this.#take(size);
    if (type === 4) return bytes.readUInt32LE();
    return type === 10 ? Number(bytes.readBigUInt64LE()) : undefined;
  }

  text(): string {
    const length = this.u64();
    if (length > limits.name) throw new Unusable('it has a name that is too long');
    return this.#take(length).toString('utf8');
  }

  /** Returns undefined for a long text, such as a template. */
  shortText(): string | undefined {
    const length = this.u64();
    if (length <= limits.name) return this.#take(length).toString('utf8');
    this.skip(length);
    return undefined;
  }

  skip(length: number): void {
    this.at += length;
    if (!(this.at <= this.#size)) throw this.#isCut();
    if (this.at > limits.bytes) throw new Unusable('its metadata is too long');
  }

  skipTexts(count: number): void {
    this.#texts += count;
    if (this.#texts > limits.texts) throw new Unusable('it has lists that are too long');
    for (let text = 0; text < count; text += 1) this.skip(this.u64());
  }

  #take(length: number): Buffer {
    if (this.at + length > this.#size) throw this.#isCut();
    if (this.at < this.#begin || this.at + length > this.#begin + this.#window.length) {
      const window = Buffer.alloc(Math.min(65_536, this.#size - this.at));
      this.#window = window.subarray(0, readSync(this.#file, window, 0, window.length, this.at));
      this.#begin = this.at;
      if (this.#window.length < length) throw this.#isCut();
    }
    const start = this.at - this.#begin;
    this.at += length;
    return this.#window.subarray(start, start + length);
  }

  #isCut(): Unusable {
    return new Unusable(`it is cut: ${this.#size} bytes of at least ${this.at}`);
  }
}

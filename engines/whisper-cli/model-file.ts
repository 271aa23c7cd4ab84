import { readSync } from 'node:fs';
import { errnoOf } from '../../lib/errors.ts';
import { NotRegularFileError, withRegularFile } from '../../lib/regular-file.ts';

/** Facts about a model file that can be read without loading it. */
export type ModelFile =
  | {
      readonly ok: true;
      readonly bytes: number;
      /** False for English-only models. */
      readonly multilingual: boolean;
      /** Models since large-v3 have one more token in their vocabulary, for Cantonese. */
      readonly knowsCantonese: boolean;
    }
  | {
      readonly ok: false;
      /** `missing` includes files that this process may not read. */
      readonly problem: 'missing' | 'not-a-model' | 'truncated';
      /** A sentence that names the file, without a period. */
      readonly detail: string;
    };

/**
 * Checks that a file is a complete whisper model in ggml format: reads its header, then walks from tensor to tensor
 * without reading their data. whisper-cli itself accepts a file that ends before its tensors, returns an empty
 * transcript and exits with 0.
 *
 * The function is synchronous: the walk is a chain of 170 to 1,300 tiny reads that takes 2 to 7 ms in total, and ten
 * times as long if each read goes through the thread pool.
 */
export function inspectModelFile(path: string): ModelFile {
  try {
    return withRegularFile(path, (file, bytes) => ({ ok: true, bytes, ...walk(new Cursor(file, bytes)) }));
  } catch (error) {
    return { ok: false, ...explain(error, path) };
  }
}

class NotAModel extends Error {}
class Truncated extends Error {}

function explain(error: unknown, path: string): { problem: 'missing' | 'not-a-model' | 'truncated'; detail: string } {
  if (error instanceof Truncated) return { problem: 'truncated', detail: `${path} is truncated: ${error.message}` };
  if (error instanceof NotRegularFileError)
    return { problem: 'not-a-model', detail: `${path} is not a whisper model: it is not a regular file` };
  if (error instanceof NotAModel)
    return { problem: 'not-a-model', detail: `${path} is not a whisper model: ${error.message}` };
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { problem: 'missing', detail: `${path} does not exist` };
    case 'EACCES':
    case 'EPERM':
      return { problem: 'missing', detail: `${path} cannot be read: permission denied` };
    default:
      throw error;
  }
}

const magic = 0x67676d6c;
const minMultilingualVocabulary = 51_865;
/** Number of frequencies of a window of 400 samples. */
const frequencies = 201;

/**
 * Block size in bytes and values per block, by ggml type number. The table has only the types that whisper.cpp's tools
 * write.
 */
const blocks: Readonly<Record<number, { readonly bytes: number; readonly values: number }>> = {
  0: { bytes: 4, values: 1 }, // f32
  1: { bytes: 2, values: 1 }, // f16
  2: { bytes: 18, values: 32 }, // q4_0
  3: { bytes: 20, values: 32 }, // q4_1
  6: { bytes: 22, values: 32 }, // q5_0
  7: { bytes: 24, values: 32 }, // q5_1
  8: { bytes: 34, values: 32 }, // q8_0
  10: { bytes: 84, values: 256 }, // q2_K
  11: { bytes: 110, values: 256 }, // q3_K
  12: { bytes: 144, values: 256 }, // q4_K
  13: { bytes: 176, values: 256 }, // q5_K
  14: { bytes: 210, values: 256 }, // q6_K
  30: { bytes: 2, values: 1 }, // bf16
};

function walk(cursor: Cursor): Pick<Extract<ModelFile, { ok: true }>, 'multilingual' | 'knowsCantonese'> {
  const { vocabulary, bands, tensors } = readHyperparameters(cursor);
  skipFilterBank(cursor, bands);
  skipWords(cursor);
  for (let index = 0; index < tensors; index++) skipTensor(cursor);
  if (cursor.left > 0) throw new NotAModel(`${cursor.left} bytes follow its last tensor`);
  return {
    multilingual: vocabulary >= minMultilingualVocabulary,
    knowsCantonese: vocabulary > minMultilingualVocabulary,
  };
}

function readHyperparameters(cursor: Cursor): { vocabulary: number; bands: number; tensors: number } {
  if (cursor.left < 4 || cursor.int32() !== magic) throw new NotAModel('it has no ggml header');
  const vocabulary = cursor.int32Between('size of the vocabulary', 50_000, 60_000);
  const encoder = readShape(cursor, 'encoder');
  const decoder = readShape(cursor, 'decoder');
  const bands = cursor.int32Between('number of mel bands', 1, 1_000);
  cursor.skip(4); // ftype
  cursor.require(
    leastBytesPerWeight * (12 * encoder.layers * encoder.state ** 2 + 16 * decoder.layers * decoder.state ** 2),
  );
  return { vocabulary, bands, tensors: 11 + 15 * encoder.layers + 24 * decoder.layers };
}

/**
 * Bytes per weight in q2_K, the smallest type. An encoder layer has at least 12 * state^2 weights, a decoder layer 16 *
 * state^2.
 */
const leastBytesPerWeight = 84 / 256;

/**
 * whisper.cpp allocates by these numbers before it compares them with the tensors, and divides by the number of heads.
 */
function readShape(cursor: Cursor, part: 'encoder' | 'decoder'): { state: number; layers: number } {
  cursor.int32Between(`context of the ${part}`, 1, 10_000);
  const state = cursor.int32Between(`width of the ${part}`, 1, 10_000);
  const heads = cursor.int32Between(`number of ${part} heads`, 1, state);
  if (state % heads !== 0) throw new NotAModel(`the ${part} cannot have ${heads} heads for a width of ${state}`);
  return { state, layers: cursor.int32Between(`number of ${part} layers`, 1, 100) };
}

/** whisper.cpp reads filters for as many frequencies as it computes, and for as many bands as the header says. */
function skipFilterBank(cursor: Cursor, bands: number): void {
  cursor.int32Between('number of mel bands of the filters', bands, bands);
  cursor.int32Between('number of frequencies', frequencies, frequencies);
  cursor.skip(bands * frequencies * 4);
}

function skipWords(cursor: Cursor): void {
  const words = cursor.int32Between('number of words', 0, 60_000);
  for (let index = 0; index < words; index++) cursor.skip(cursor.int32Between('length of a word', 0, 1_000));
}

function skipTensor(cursor: Cursor): void {
  const dimensions = cursor.int32Between('number of dimensions', 1, 4);
  const nameLength = cursor.int32Between('length of a name', 1, 1_000);
  const type = cursor.int32();
  let values = 1;
  for (let index = 0; index < dimensions; index++) values *= cursor.int32Between('dimension', 1, 1_000_000);
  const block = blocks[type];
  if (block === undefined) throw new NotAModel(`it has a tensor of the unknown type ${type}`);
  if (values % block.values !== 0)
    throw new NotAModel(`it has a tensor of ${values} values in blocks of ${block.values}`);
  cursor.skip(nameLength);
  cursor.skip((values / block.values) * block.bytes);
}

/** Sequential reader with a small buffer. */
class Cursor {
  readonly #file: number;
  readonly #size: number;
  readonly #window = Buffer.alloc(4096);
  #windowStart = 0;
  #windowEnd = 0;
  #at = 0;

  constructor(file: number, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** Bytes until the end of the file. */
  get left(): number {
    return this.#size - this.#at;
  }

  skip(bytes: number): void {
    this.require(this.#at + bytes);
    this.#at += bytes;
  }

  /** Throws if the file is smaller. */
  require(bytes: number): void {
    if (bytes > this.#size) throw new Truncated(`it has ${this.#size} bytes, expected at least ${Math.ceil(bytes)}`);
  }

  int32(): number {
    const start = this.#at;
    this.skip(4);
    if (start < this.#windowStart || this.#at > this.#windowEnd) {
      this.#windowStart = start;
      this.#windowEnd = start + readSync(this.#file, this.#window, 0, this.#window.length, start);
      if (this.#at > this.#windowEnd) throw new Truncated(`it ended at byte ${this.#windowEnd} while it was read`);
    }
    return this.#window.readInt32LE(start - this.#windowStart);
  }

  int32Between(what: string, min: number, max: number): number {
    const value = this.int32();
    if (value < min || value > max) throw new NotAModel(`the ${what} cannot be ${value}`);
    return value;
  }
}

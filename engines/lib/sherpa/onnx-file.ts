/** Reads an ONNX file without loading it: checks that it is complete, and returns its metadata. */
import { readSync } from 'node:fs';
import { withRegularFile } from '../../../lib/regular-file.ts';
import { Unusable } from '../model-files.ts';
import { checkOrt, ortHeadBytes } from './ort-file.ts';

export interface OnnxFile {
  readonly bytes: number;
  readonly metadata: Metadata;
}

/** If a key occurs twice, the first value counts, as in sherpa-onnx. Empty for a model in ONNX Runtime's own format. */
export type Metadata = ReadonlyMap<string, string>;

/** Field numbers of a ModelProto, of its graph (`input`) and of an input (`name`). */
const fields = { graph: 7, metadata: 14, highest: 25, input: 11, name: 1 } as const;

/**
 * Limits that no converter exceeds. `fields` applies to all messages that are read together, and `metadataBytes` to all
 * entries.
 */
const limits = { fields: 100_000, metadataBytes: 4_194_304, name: 1_024 } as const;

/**
 * Walks from one top-level field to the next: 0.4 ms for 60 MB. Synchronous on purpose, as in whisper-cli: a chain of tiny
 * reads takes ten times as long through the thread pool. Throws `Unusable`.
 */
export function readOnnxFile(path: string): OnnxFile {
  return withRegularFile(path, (file, bytes) => {
    if (!path.endsWith('.ort')) return { bytes, metadata: walk(file, bytes) };
    checkOrt(read(file, 0, ortHeadBytes), bytes);
    return { bytes, metadata: new Map() };
  });
}

function walk(file: number, size: number): Map<string, string> {
  const metadata = new Map<string, string>();
  let hasGraph = false;
  let metadataBytes = 0;
  for (const { number, start, end } of new FieldReader(file).fieldsOf({ start: 0, end: size })) {
    if (number > fields.highest) throw new Unusable('it is not an ONNX model');
    if (end > size) throw new Unusable(`it is cut: ${size} bytes of at least ${end}`);
    if (number === fields.graph) hasGraph = true;
    if (number === fields.metadata) {
      metadataBytes += end - start;
      if (metadataBytes > limits.metadataBytes) throw new Unusable('it has too much metadata');
      addEntry(metadata, read(file, start, end - start));
    }
  }
  if (!hasGraph) throw new Unusable('it is not an ONNX model');
  return metadata;
}

/** Returns the names of the inputs of the graph. Throws `Unusable`. */
export function readInputs(path: string): string[] {
  return withRegularFile(path, (file, bytes) => {
    const reader = new FieldReader(file);
    const graph = reader.fieldsOf({ start: 0, end: bytes }).find(({ number }) => number === fields.graph);
    if (!graph) throw new Unusable('it is not an ONNX model');
    const inputs = reader.fieldsOf(graph).filter(({ number }) => number === fields.input);
    return inputs
      .flatMap((input) => {
        const name = reader.fieldsOf(input).find(({ number }) => number === fields.name);
        if (name && name.end - name.start > limits.name) throw new Unusable('it has a name that is too long');
        return name ? [read(file, name.start, name.end - name.start).toString()] : [];
      })
      .toArray();
  });
}

class FieldReader {
  readonly #file: number;
  #count = 0;

  constructor(file: number) {
    this.#file = file;
  }

  /** Yields the fields of a message and skips their contents. Positions are offsets in the file. */
  *fieldsOf(message: Pick<Field, 'start' | 'end'>) {
    for (let at = message.start; at < message.end;) {
      this.#count += 1;
      if (this.#count > limits.fields) throw new Unusable('it has too many fields');
      const { number, start, end } = readField(read(this.#file, at, 20), 0);
      yield { number, start: at + start, end: at + end };
      at += end;
    }
  }
}

/** A StringStringEntryProto: key and value. */
function addEntry(metadata: Map<string, string>, entry: Buffer): void {
  const texts = new Map<number, string>();
  for (let at = 0; at < entry.length;) {
    const { number, start, end } = readField(entry, at);
    texts.set(number, entry.toString('utf8', start, end));
    at = end;
  }
  const key = texts.get(1);
  if (key !== undefined && !metadata.has(key)) metadata.set(key, texts.get(2) ?? '');
}

interface Field {
  readonly number: number;
  /** Where its content begins and ends. */
  readonly start: number;
  readonly end: number;
}

function readField(bytes: Buffer, at: number): Field {
  const tag = readVarint(bytes, at);
  const [number, type] = [Math.floor(tag.value / 8), tag.value % 8];
  if (number === 0) throw new Unusable('it is not an ONNX model');
  if (type === 0) return { number, start: tag.end, end: readVarint(bytes, tag.end).end };
  if (type === 1) return { number, start: tag.end, end: tag.end + 8 };
  if (type === 5) return { number, start: tag.end, end: tag.end + 4 };
  if (type !== 2) throw new Unusable('it is not an ONNX model');
  const length = readVarint(bytes, tag.end);
  return { number, start: length.end, end: length.end + length.value };
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start; at < start + 10; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) throw new Unusable('it is cut');
    value += (byte & 127) * 2 ** (7 * (at - start));
    if (byte < 128) return { value, end: at + 1 };
  }
  throw new Unusable('it is not an ONNX model');
}

function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}

/** Writes ONNX models: protobuf, and a graph whose nodes are added one by one. The same calls give the same bytes. */

/** A field of a protobuf message. */
type Field = Buffer;

function varint(value: number | bigint): Buffer {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const integer = (field: number, value: number): Field => Buffer.concat([varint(field << 3), varint(value)]);

export function bytes(field: number, value: string | Buffer): Field {
  const data = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
}

function float(field: number, value: number): Field {
  const data = Buffer.alloc(4);
  data.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), data]);
}

const message = (field: number, ...parts: readonly Field[]): Field => bytes(field, Buffer.concat(parts));

export const tensorTypes = { float: 1, int32: 6, int64: 7, bool: 9 } as const;
export type TensorType = keyof typeof tensorTypes;

type Values = readonly number[] | Float32Array;

/** A TensorProto. */
export function tensor(name: string, type: TensorType, dims: readonly number[], values: Values): Buffer {
  const raw = rawOf(type, values);
  const sizes = dims.map((dim) => integer(1, dim));
  return Buffer.concat([...sizes, integer(2, tensorTypes[type]), bytes(8, name), bytes(9, Buffer.from(raw))]);
}

function rawOf(type: TensorType, values: Values): ArrayBuffer {
  if (type === 'float') return new Float32Array(values).buffer;
  if (type === 'int32') return new Int32Array(values).buffer;
  return BigInt64Array.from(values, BigInt).buffer;
}

type Attribute = number | readonly number[] | Buffer;

function attribute(name: string, value: Attribute): Field {
  if (Buffer.isBuffer(value)) return message(5, bytes(1, name), bytes(5, value), integer(20, 4));
  if (typeof value !== 'number')
    return message(5, bytes(1, name), ...value.map((item) => integer(8, item)), integer(20, 7));
  if (Number.isInteger(value)) return message(5, bytes(1, name), integer(3, value), integer(20, 2));
  return message(5, bytes(1, name), float(2, value), integer(20, 1));
}

/** In ONNX a reduction is a name. */
const textAttribute = (name: string, value: string): Field =>
  message(5, bytes(1, name), bytes(4, value), integer(20, 3));

/** Sizes of an input or output; a text names one that is not fixed. */
export interface Port {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly (number | string)[];
}

/** An input or output. */
export const port = (name: string, type: TensorType, ...dims: readonly (number | string)[]): Port => ({
  name,
  type,
  dims,
});

function portField(field: number, { name, type, dims }: Port): Field {
  const shape = dims.map((dim) => message(1, typeof dim === 'string' ? bytes(2, dim) : integer(1, dim)));
  const kind = message(1, integer(1, tensorTypes[type]), message(2, ...shape));
  return message(field, bytes(1, name), message(2, kind));
}

/** Without what is undefined. */
export type Metadata = Readonly<Record<string, string | number | undefined>>;

/** Fields of a protobuf message may come in any order: appended to a file, these bytes are metadata of its model. */
export function metadataFields(metadata: Metadata): Buffer {
  const fields = Object.entries(metadata).flatMap(([key, value]) =>
    value === undefined ? [] : [message(14, bytes(1, key), bytes(2, String(value)))],
  );
  return Buffer.concat(fields);
}

export interface ModelShape {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly metadata: Metadata;
}

export class Graph {
  readonly #parts: Buffer[] = [];
  #names = 0;

  /** Adds a constant of integers and returns its name; `dims` [] is a scalar. */
  constant(
    values: readonly number[],
    dims: readonly number[] = [values.length],
    type: 'int32' | 'int64' = 'int64',
  ): string {
    return this.#constant(values, type, dims);
  }

  floats(values: Values, dims: readonly number[] = [values.length]): string {
    return this.#constant(values, 'float', dims);
  }

  /** Adds a node with one output and returns the output's name. */
  op(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute | string>> = {},
    output = `n${this.#names++}`,
  ): string {
    const fields = Object.entries(attributes).map(([name, value]) =>
      typeof value === 'string' ? textAttribute(name, value) : attribute(name, value),
    );
    const ports = [...inputs.map((input) => bytes(1, input)), bytes(2, output)];
    this.#parts.push(message(1, ...ports, bytes(4, type), ...fields));
    return output;
  }

  /** The file. */
  model({ inputs, outputs, metadata }: ModelShape): Buffer {
    const ports = [...inputs.map((input) => portField(11, input)), ...outputs.map((output) => portField(12, output))];
    const graph = message(7, ...this.#parts, bytes(2, 'tones'), ...ports);
    const [irVersion, opset] = [8, 16];
    const imports = message(8, bytes(1, ''), integer(2, opset));
    const head = [integer(1, irVersion), bytes(2, 'parlance-test'), graph, imports];
    return Buffer.concat([...head, metadataFields(metadata)]);
  }

  #constant(values: Values, type: TensorType, dims: readonly number[]): string {
    const name = `c${this.#names++}`;
    this.#parts.push(bytes(5, tensor(name, type, dims, values)));
    return name;
  }
}

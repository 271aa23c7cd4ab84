/** The fields of a form besides its recording. */
import type { FormBounds } from '../../contract/document.ts';
import type { FormFields } from '../../contract/operations.ts';
import { invalid, type ProblemError } from '../../contract/problems.ts';
import { ByteBuffer } from './byte-buffer.ts';

const fieldNameSize = 100;

export interface FieldRules {
  readonly bounds: FormBounds;
  /** Names of the fields that the contract declares as arrays. */
  readonly lists: readonly string[];
}

/**
 * The text fields of a form so far. Empty fields count as absent, because forms cannot omit fields as easily as JSON.
 */
export class TextFields {
  readonly #rules: FieldRules;
  readonly #values = new Map<string, string | readonly string[]>();
  #large = 0;
  bytes = 0;

  constructor(rules: FieldRules) {
    this.#rules = rules;
  }

  /** Throws for a field that is never valid. */
  add(name: string | undefined, value: string | undefined, isTruncated: boolean): void {
    const { names, large, ...bounds } = this.#rules.bounds;
    checkName(name);
    if (!names.valid.test(name)) throw invalid('body', pointerTo(name), names.rule);
    const isLarge = plainName(name) === large?.name;
    if (name === 'file' || (isLarge && large.isFile)) {
      throw invalid('body', pointerTo(name), 'must be a file, not a text field; a file part has a filename');
    }
    const fieldSize = isLarge ? large.fieldSize : bounds.fieldSize;
    if (isTruncated || Buffer.byteLength(value ?? '') > fieldSize) throw tooManyBytes(pointerTo(name), fieldSize);
    if (isLarge) this.#countLarge(name);
    if (value === undefined) throw invalid('body', pointerTo(name), 'must be text in UTF-8');
    if (value !== '') this.#keep(name, value);
  }

  /** Collects a small file, whose value is a data URL. Throws like `add`. */
  openFile(name: string) {
    const index = this.#countLarge(name);
    const { fieldSize = 0 } = this.#rules.bounds.large ?? {};
    const bytes = new ByteBuffer();
    let length = 0;
    return {
      add: (chunk: Buffer) => {
        length += chunk.length;
        if (length > fieldSize) throw tooManyBytes(`${pointerTo(name)}/${index}`, fieldSize);
        bytes.add(chunk);
      },
      end: (mediaType: string) => this.#keep(name, `data:${mediaType};base64,${bytes.take().toString('base64')}`),
    };
  }

  /** Returns the index of the value. */
  #countLarge(name: string): number {
    const { count = 0 } = this.#rules.bounds.large ?? {};
    if ((this.#large += 1) > count)
      throw invalid('body', pointerTo(name), `must not have more than ${String(count)} values`);
    return this.#large - 1;
  }

  read(): FormFields {
    return Object.fromEntries(this.#values); // creates own properties, even for the name `__proto__`
  }

  /** Fields that are repeated, have brackets or are declared as arrays in the contract become arrays. */
  #keep(name: string, value: string): void {
    const plain = plainName(name);
    const before = this.#values.get(plain);
    const isSingle = before === undefined && plain === name && !this.#rules.lists.includes(name);
    this.#values.set(plain, isSingle ? value : [before ?? [], value].flat());
    this.bytes += Buffer.byteLength(value);
  }
}

/** Returns the field name without brackets. */
function plainName(name: string): string {
  return name.split('[')[0] ?? '';
}

export function checkName(name: string | undefined): asserts name is string {
  if (name === undefined || name === '') throw invalid('body', '', 'must have a name for each part');
  if (name.length > fieldNameSize)
    throw invalid('body', '', `must not have field names of more than ${String(fieldNameSize)} bytes`);
}

/** Returns the JSON Pointer of a field (RFC 6901). */
function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function tooManyBytes(pointer: string, bytes: number): ProblemError {
  return invalid('body', pointer, `must not have more than ${String(bytes)} bytes`);
}

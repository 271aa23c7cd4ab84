/**
 * Creates a made-up value for a JSON Schema, at a bounded cost: schemas may be large, recursive, and wide on every
 * level. openapi-sampler 1.7.10 has no such bound: ten references on each of six levels block it for seconds, minItems
 * and minLength fill the memory, and it throws for a reference without a target.
 */
import { isObject, textOf, type JsonObject } from '../../lib/json.ts';
import { JsonStructure } from '../../lib/json-structure.ts';
import { EngineError } from '../contract/index.ts';

const maxDepth = 8;
const maxValues = 10_000;
const maxBytes = 1_000_000;
/** Bytes of a colon, a comma and a number. */
const bytesPerValue = 26;
/** Maximum number of references and alternatives on the way to one value. */
const maxHops = 8;

/**
 * Returns JSON for the common keywords of structured output; null for other schemas. Every string without fixed values
 * is `text`. Works breadth first: values beyond the limits are missing in the deepest objects. Throws
 * `provider-rejected-request` for an empty enum.
 */
export function sampleOf(schema: JsonObject, text: string): string {
  return JSON.stringify(new Sampler(schema, text).sample());
}

/** A value to create, and its place. */
interface OpenField {
  readonly schema: unknown;
  readonly depth: number;
  readonly parent: Record<string, unknown>;
  readonly name: string;
}

class Sampler {
  readonly #root: JsonObject;
  readonly #text: string;
  readonly #textBytes: number;
  readonly #fields: OpenField[] = [];
  /** Resolved references. */
  readonly #targets = new Map<string, unknown>();
  #values = maxValues - 1; // one is the value itself
  #bytes = maxBytes;

  constructor(root: JsonObject, text: string) {
    this.#root = root;
    this.#text = text;
    this.#textBytes = bytesOf(text);
  }

  sample(): unknown {
    const whole = emptyObject();
    this.#fields.push({ schema: this.#root, depth: 0, parent: whole, name: '' });
    for (const { schema, depth, parent, name } of this.#fields) parent[name] = this.#valueOf(schema, depth);
    return whole[''];
  }

  #valueOf(schema: unknown, depth: number, hops = 0): unknown {
    if (!isObject(schema) || depth > maxDepth || hops > maxHops) return null;
    const { const: fixed, enum: values, $ref: reference, anyOf, oneOf, allOf } = schema;
    if (fixed !== undefined) return this.#copy(fixed);
    if (Array.isArray(values)) return this.#copy(firstOf(values));
    if (typeof reference === 'string') return this.#valueOf(this.#resolve(reference), depth, hops + 1);
    const choice = [anyOf, oneOf, allOf].map((list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined));
    const [chosen] = choice.filter(isObject);
    return chosen ? this.#valueOf(chosen, depth, hops + 1) : this.#typedValue(schema, depth);
  }

  #typedValue({ type, minimum, properties }: JsonObject, depth: number): unknown {
    switch (textOf(Array.isArray(type) ? type[0] : type)) {
      case 'string':
        return this.#bytes >= this.#textBytes && this.#take(0, this.#textBytes) ? this.#text : '';
      case 'integer':
      case 'number':
        return typeof minimum === 'number' ? minimum : 0;
      case 'boolean':
        return false;
      case 'array':
        return [];
      case 'object':
      case '':
        return this.#open(isObject(properties) ? properties : {}, depth);
      default:
        return null;
    }
  }

  /** Creates the object; its values follow. */
  #open(properties: JsonObject, depth: number): object {
    const parent = emptyObject();
    if (this.#isFull) return parent;
    for (const [name, schema] of Object.entries(properties)) {
      if (!this.#take(1, bytesOf(name) + bytesPerValue)) break;
      this.#fields.push({ schema, depth: depth + 1, parent, name });
    }
    return parent;
  }

  #copy(value: unknown): unknown {
    if (this.#isFull) return null;
    const json = Buffer.from(JSON.stringify(value));
    const structure = new JsonStructure();
    structure.add(json);
    return this.#take(structure.tokens, json.length) ? value : null;
  }

  #take(values: number, bytes: number): boolean {
    this.#values -= values;
    this.#bytes -= bytes;
    return !this.#isFull;
  }

  get #isFull(): boolean {
    return this.#values < 0 || this.#bytes < 0;
  }

  /** Resolves a JSON pointer within the schema. */
  #resolve(reference: string): unknown {
    if (!this.#targets.has(reference)) this.#targets.set(reference, targetOf(reference, this.#root));
    return this.#targets.get(reference);
  }
}

/** Created without a prototype, because a property may be called `__proto__`. */
function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

function firstOf(values: readonly unknown[]): unknown {
  if (values.length > 0) return values[0];
  throw new EngineError('provider-rejected-request', 'Sandbox: the JSON Schema has an enum without values.');
}

function targetOf(reference: string, root: JsonObject): unknown {
  const steps = reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '');
  return steps.reduce<unknown>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);
}

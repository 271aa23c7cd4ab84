/** Derives the body limit of an operation from the contract: the size of its largest valid body. */
import { nativeContract, openaiContract, type Contract, type Schema } from './document.ts';

/** Maximum bytes per character: a code point outside the BMP, written as two \u escapes. */
const bytesPerCharacter = 12;

/** Maximum bytes for a number, a boolean, null or an enum value. */
const scalarBytes = 32;

/** Allowance for whitespace and for unknown properties, which are ignored. */
const slackBytes = 65_536;

const known = new WeakMap<Schema, number>();

export function largestBody(schema: Schema, { resolve, json }: Pick<Contract, 'resolve' | 'json'>): number {
  const bytes = json.limit ?? known.get(schema) ?? slackBytes + bytesOf(schema, resolve);
  known.set(schema, bytes);
  return bytes;
}

/** Returns the largest limit of all operations with a JSON body. */
export function largestRequestBody(): number {
  return Math.max(...[nativeContract, openaiContract].flatMap(bodyLimits));
}

function bodyLimits(contract: Contract): number[] {
  const bodies = [...contract.operations.values()].map(({ requestBody }) => requestBody?.content['application/json']);
  return bodies.filter((body) => body !== undefined).map(({ schema }) => largestBody(schema, contract));
}

function bytesOf(schema: Schema, resolve: Contract['resolve']): number {
  const inner = (part: Schema) => bytesOf(part, resolve);
  if (schema.$ref !== undefined) return inner(resolve(schema.$ref));
  if (schema.anyOf) return Math.max(...schema.anyOf.map(inner));
  if (schema.properties) {
    const members = Object.entries(schema.properties).map(([name, value]) => name.length + 4 + inner(value));
    return 2 + members.reduce((sum, bytes) => sum + bytes, 0);
  }
  if (schema.items) return 2 + bounded(schema.maxItems) * (1 + inner(schema.items));
  if (schema.type === 'string' && !('enum' in schema)) return 2 + bounded(schema.maxLength) * bytesPerCharacter;
  return scalarBytes;
}

function bounded(limit: number | undefined): number {
  if (limit === undefined) throw new Error('the contract has an unbounded request body');
  return limit;
}

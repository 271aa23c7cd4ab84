/** The size of the largest valid body of an operation, derived from the contract: it is the body limit. */
import { operationsById, resolveSchema, type Schema } from './document.ts';

/** A code point outside the BMP, written as two \u escapes. */
const bytesPerCharacter = 12;

/** A number, `true`, `null`. */
const scalarBytes = 32;

/** Allowance for whitespace and for unknown properties, which are ignored. */
const slackBytes = 65_536;

const known = new WeakMap<Schema, number>();

export function largestBody(schema: Schema): number {
  const bytes = known.get(schema) ?? slackBytes + bytesOf(schema);
  known.set(schema, bytes);
  return bytes;
}

/** The largest limit of all operations with a JSON body. */
export function largestRequestBody(): number {
  const schemas = [...operationsById.values()].map(
    ({ requestBody }) => requestBody?.content['application/json']?.schema,
  );
  return Math.max(...schemas.filter((schema) => schema !== undefined).map(largestBody));
}

function bytesOf(schema: Schema): number {
  if (schema.$ref !== undefined) return bytesOf(resolveSchema(schema.$ref));
  if (schema.anyOf) return Math.max(...schema.anyOf.map(bytesOf));
  if (schema.properties) {
    const members = Object.entries(schema.properties).map(([name, value]) => name.length + 4 + bytesOf(value));
    return 2 + members.reduce((sum, bytes) => sum + bytes, 0);
  }
  if (schema.items) return 2 + bounded(schema.maxItems) * (1 + bytesOf(schema.items));
  if (schema.type === 'string' && !('enum' in schema)) return 2 + bounded(schema.maxLength) * bytesPerCharacter;
  return scalarBytes;
}

function bounded(limit: number | undefined): number {
  if (limit === undefined) throw new Error('the contract has an unbounded request body');
  return limit;
}

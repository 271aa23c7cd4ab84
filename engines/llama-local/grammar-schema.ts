/**
 * Converts the JSON Schema of a tool's arguments to the schema of node-llama-cpp's grammar (3.22.1). The tool validates
 * the arguments afterwards.
 */
import { EngineError } from '../contract/index.ts';
import { isObject, objectsOf, type JsonObject } from '../../lib/json.ts';

/** Maximum number of shapes with different optional properties; the grammar requires every property of a shape. */
const maxShapes = 8;
const maxDepth = 16;
const anything = { type: 'string' } as const;
const plainTypes = ['string', 'number', 'integer', 'boolean', 'null'];

/** Throws `parameter-not-supported` for a name or a value that the library cannot write into a grammar. */
export function toGrammarSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > maxDepth) return anything;
  const description = typeof schema.description === 'string' ? { description: schema.description } : {};
  if (isPrimitive(schema.const)) return { const: writable(schema.const), ...description };
  const values = Array.isArray(schema.enum) ? schema.enum.filter(isPrimitive).map(writable) : [];
  if (values.length > 0) return { enum: values, ...description };
  const choices = [...objectsOf(schema.oneOf), ...objectsOf(schema.anyOf)];
  if (choices.length > 0) return { oneOf: choices.map((choice) => toGrammarSchema(choice, depth + 1)), ...description };
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  if (types.includes('object') || isObject(schema.properties)) return { ...toObject(schema, depth), ...description };
  if (types.includes('array')) {
    return {
      type: 'array',
      items: toGrammarSchema(isObject(schema.items) ? schema.items : {}, depth + 1),
      ...description,
    };
  }
  const plain = types.filter((type) => plainTypes.includes(type));
  return { ...(plain.length === 0 ? anything : { type: plain.length === 1 ? plain[0] : plain }), ...description };
}

function toObject({ properties = {}, required = [] }: JsonObject, depth: number): JsonObject {
  const given = Object.entries(isObject(properties) ? properties : {});
  const all = given.map(
    ([name, value]) => [writable(name), toGrammarSchema(isObject(value) ? value : {}, depth + 1)] as const,
  );
  const isRequired = ([name]: readonly [string, ...unknown[]]) => Array.isArray(required) && required.includes(name);
  const [needed, optional] = [all.filter(isRequired), all.filter((entry) => !isRequired(entry))];
  // The library supports a choice of shapes at the top level only.
  const offered = depth === 0 ? optional.slice(0, maxShapes - 1) : [];
  const shapes = offered.map((_, count) => [...needed, ...offered.slice(0, count + 1)]);
  const [only, ...more] = [needed, ...shapes].map((shape) => ({
    type: 'object',
    properties: Object.fromEntries(shape),
  }));
  return more.length === 0 ? { ...only } : { oneOf: [only, ...more] };
}

function isPrimitive(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/**
 * The library does not escape these control characters: NUL would end the grammar, and the others would be invalid
 * JSON.
 */
// eslint-disable-next-line no-control-regex
const unescaped = /[\x00-\x08\x0b\x0c\x0e-\x1f]/;

/**
 * Returns the value. Throws `parameter-not-supported` for a text with control characters other than tabs and line
 * breaks.
 */
export function writable<Value>(value: Value): Value {
  if (typeof value !== 'string' || !unescaped.test(value)) return value;
  const shown = JSON.stringify(value.slice(0, 100));
  throw new EngineError(
    'parameter-not-supported',
    `Local models support no tools with control characters in the tool name, in a property name or in a value of the schema: ${shown}.`,
  );
}

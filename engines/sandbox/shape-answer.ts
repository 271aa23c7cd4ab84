/** The answer in the form that the caller asks for: as JSON (`response_format`), or up to a `stop` sequence. */
import { isObject, objectsOf, textOf, type JsonObject } from '../../lib/json.ts';
import type { ChatCall } from '../contract/index.ts';

export function shapeAnswer(text: string, { provider = {} }: ChatCall): string {
  const { response_format: format, stop } = provider;
  const answer = isObject(format) ? formatted(text, format) : text;
  const stops = [stop].flat().filter((one) => typeof one === 'string' && one !== '') as string[];
  const ends = stops.map((one) => answer.indexOf(one)).filter((at) => at >= 0);
  return answer.slice(0, Math.min(answer.length, ...ends));
}

function formatted(text: string, { type, json_schema: given }: JsonObject): string {
  if (type === 'json_object') return JSON.stringify({ answer: text });
  if (type !== 'json_schema') return text;
  const schema = isObject(given) && isObject(given.schema) ? given.schema : {};
  return JSON.stringify(sampleOf(schema, { text, root: schema, depth: 0, budget: { left: maxValues } }));
}

interface Sampling {
  /** The value of every string. */
  readonly text: string;
  /** For references such as `#/$defs/City`. */
  readonly root: JsonObject;
  readonly depth: number;
  /** Shared by all depths. */
  readonly budget: { left: number };
}

/** Schemas may be recursive, and wide on every level. */
const maxDepth = 8;
const maxValues = 1_000;

/** A value for the usual keywords of structured output; null for a schema beyond them. */
function sampleOf(schema: unknown, { depth, ...sampling }: Sampling): unknown {
  sampling.budget.left -= 1;
  if (!isObject(schema) || depth > maxDepth || sampling.budget.left < 0) return null;
  const sample = (inner: unknown) => sampleOf(inner, { ...sampling, depth: depth + 1 });
  const { const: fixed, enum: values, $ref: reference, properties, minimum } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(values)) return values[0];
  if (typeof reference === 'string') return sample(resolve(reference, sampling.root));
  const [choice] = [...objectsOf(schema.anyOf), ...objectsOf(schema.oneOf), ...objectsOf(schema.allOf)];
  if (choice !== undefined) return sample(choice);
  switch (textOf([schema.type].flat()[0])) {
    case 'string':
      return sampling.text;
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
    case '':
      return Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {}).map(([name, inner]) => [name, sample(inner)]),
      );
    default:
      return null;
  }
}

/** A JSON pointer within the schema. */
function resolve(reference: string, root: JsonObject): unknown {
  const steps = reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '');
  return steps.reduce<unknown>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);
}

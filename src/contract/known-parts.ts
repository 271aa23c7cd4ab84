/** Removes undeclared properties from a body. */
import type { Contract, Schema } from './document.ts';

/** Describes which parts of a value to keep. */
interface Shape {
  /** True if everything is kept, because the schema allows any value. */
  readonly isOpen: boolean;
  readonly properties: readonly (readonly [name: string, shape: Shape])[];
  readonly items: Shape | undefined;
  readonly maxItems: number;
  readonly maxLength: number;
}

const shapes = new WeakMap<Schema, Shape>();

/**
 * Returns a copy without unknown properties at any level. Truncates overlong arrays and strings just past the limit, so
 * that validation still finds every violation without processing the rest.
 */
export function knownParts(value: object, schema: Schema, { resolve }: Pick<Contract, 'resolve'>): object {
  const shape = shapes.get(schema) ?? shapeOf(schema, resolve);
  shapes.set(schema, shape);
  return prune(value, shape) as object;
}

function prune(value: unknown, shape: Shape): unknown {
  if (shape.isOpen) return value;
  // A code point has at most two UTF-16 code units.
  if (typeof value === 'string')
    return value.length > 2 * shape.maxLength ? value.slice(0, 2 * shape.maxLength + 1) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return pruneObject(value, shape);
  const { items, maxItems } = shape;
  return items ? value.slice(0, maxItems + 1).map((item) => prune(item, items)) : [];
}

function pruneObject(value: object, { properties }: Shape): object {
  const kept: Record<string, unknown> = {};
  for (const [name, shape] of properties) {
    // JSON has no undefined, and no property of the contract has the name of a property of Object.prototype.
    const inner = (value as Record<string, unknown>)[name];
    if (inner !== undefined) kept[name] = prune(inner, shape);
  }
  return kept;
}

function shapeOf(schema: Schema, resolve: Contract['resolve']): Shape {
  const inner = (part: Schema) => shapeOf(part, resolve);
  if (schema.$ref !== undefined) return inner(resolve(schema.$ref));
  const { type, properties, items, maxItems = Infinity, maxLength = Infinity } = schema;
  if (schema.anyOf) {
    const union = unionOf(schema.anyOf.map(inner));
    // Keywords next to `anyOf` apply to each alternative.
    return {
      ...union,
      maxItems: Math.min(maxItems, union.maxItems),
      maxLength: Math.min(maxLength, union.maxLength),
    };
  }
  return {
    isOpen: type === undefined || (type === 'object' && !properties),
    properties: Object.entries(properties ?? {}).map(([name, value]) => [name, inner(value)]),
    items: items && inner(items),
    maxItems: items ? maxItems : 0,
    maxLength: type === 'string' ? maxLength : 0,
  };
}

function unionOf(alternatives: readonly Shape[]): Shape {
  const all = alternatives.flatMap(({ properties }) => properties);
  const byName = Map.groupBy(all, ([name]) => name);
  const items = alternatives.flatMap((shape) => shape.items ?? []);
  return {
    isOpen: alternatives.some(({ isOpen }) => isOpen),
    properties: [...byName].map(([name, ones]) => [name, unionOf(ones.map(([, shape]) => shape))]),
    items: items.length > 0 ? unionOf(items) : undefined,
    maxItems: Math.max(...alternatives.map(({ maxItems }) => maxItems)),
    maxLength: Math.max(...alternatives.map(({ maxLength }) => maxLength)),
  };
}

/** What a schema knows of a body: the rest is not kept. */
import { resolveSchema, type Schema } from './document.ts';

/** What is kept of objects, arrays and strings. */
interface Shape {
  /** All of it: the schema allows anything. */
  readonly isOpen: boolean;
  readonly properties: ReadonlyMap<string, Shape>;
  readonly items: Shape | undefined;
  readonly maxItems: number;
  readonly maxLength: number;
}

const shapes = new WeakMap<Schema, Shape>();

/**
 * A copy without unknown properties, at every level, and with long arrays and strings cut behind the first item or
 * character that is too many: validation finds every violation, but never has to look at more than that.
 */
export function knownParts(value: object, schema: Schema): object {
  const shape = shapes.get(schema) ?? shapeOf(schema);
  shapes.set(schema, shape);
  return prune(value, shape) as object;
}

function prune(value: unknown, shape: Shape): unknown {
  if (shape.isOpen) return value;
  // A code point has at most two UTF-16 units.
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
    if (Object.hasOwn(value, name)) kept[name] = prune((value as Record<string, unknown>)[name], shape);
  }
  return kept;
}

function shapeOf(schema: Schema): Shape {
  if (schema.$ref !== undefined) return shapeOf(resolveSchema(schema.$ref));
  if (schema.anyOf) return unionOf(schema.anyOf.map(shapeOf));
  const { type, properties, items, maxItems = Infinity, maxLength = Infinity } = schema;
  return {
    isOpen: type === undefined || (type === 'object' && !properties),
    properties: new Map(Object.entries(properties ?? {}).map(([name, value]) => [name, shapeOf(value)])),
    items: items && shapeOf(items),
    maxItems: items ? maxItems : 0,
    maxLength: type === 'string' ? maxLength : 0,
  };
}

function unionOf(alternatives: readonly Shape[]): Shape {
  const names = new Set(alternatives.flatMap(({ properties }) => [...properties.keys()]));
  const ofAll = (pick: (shape: Shape) => Shape | undefined) =>
    unionOf(alternatives.map(pick).filter((shape) => shape !== undefined));
  return {
    isOpen: alternatives.some(({ isOpen }) => isOpen),
    properties: new Map([...names].map((name) => [name, ofAll(({ properties }) => properties.get(name))])),
    items: alternatives.some(({ items }) => items) ? ofAll(({ items }) => items) : undefined,
    maxItems: Math.max(...alternatives.map(({ maxItems }) => maxItems)),
    maxLength: Math.max(...alternatives.map(({ maxLength }) => maxLength)),
  };
}

/** Describes JSON Schemas of settings and events in words. */
import { code } from './markdown.ts';

/** The keywords that this project's schemas use. */
export interface Described {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Described[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly items?: Described;
  readonly enum?: readonly (string | number | null)[];
  readonly format?: string;
  /** Set by this module when it folds `anyOf` with null into one schema. */
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Maximum file size. Used instead of `maxLength`, which generators compile to a string check. */
  readonly 'x-max-bytes'?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Field {
  /**
   * Names a field: `models[].id` is a field of each item of the list `models`, `audio.url` one of the object `audio`.
   */
  readonly path: string;
  readonly schema: Described;
  readonly required: boolean;
}

/** Returns every field of an object, including those of its objects and of the items of its lists. */
export function fieldsOf(schema: Described, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const field = foldNull(value as Described);
    const path = `${prefix}${name}`;
    return [
      { path, schema: field, required: schema.required?.includes(name) ?? false },
      ...fieldsOf(field, `${path}.`),
      ...(field.items ? fieldsOf(field.items, `${path}[].`) : []),
    ];
  });
}

function foldNull(schema: Described): Described {
  const [only, ...others] = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (!only || others.length > 0) return schema;
  return { ...only, nullable: true, ...(schema.description !== undefined && { description: schema.description }) };
}

const mostWords = 12;

export function typeOf(schema: Described): string {
  return schema.nullable ? `${nonNullTypeOf(schema)} or null` : nonNullTypeOf(schema);
}

function nonNullTypeOf(schema: Described): string {
  if (schema.enum && schema.enum.length <= mostWords) return schema.enum.map((word) => code(String(word))).join(', ');
  const types = [schema.type ?? 'any'].flat();
  return types.map((type) => withBounds(type, schema)).join(' or ');
}

function withBounds(type: string, schema: Described): string {
  switch (type) {
    case 'array':
      return `list of ${itemsOf(schema)}${between(schema.minItems, schema.maxItems)}`;
    case 'integer':
    case 'number':
      return `${type}${between(schema.minimum, schema.maximum)}${above(schema.exclusiveMinimum)}`;
    case 'string':
      if (schema.format === 'binary') return `file${between(undefined, schema['x-max-bytes'], ' bytes')}`;
      return `string${schema.maxLength === undefined ? '' : between(schema.minLength, schema.maxLength, ' characters')}`;
    default:
      return type;
  }
}

function itemsOf({ items }: Described): string {
  if (items?.enum) return typeOf(items);
  if (items?.format === 'binary') return `files${between(undefined, items['x-max-bytes'], ' bytes each')}`;
  return [items?.type ?? 'anything']
    .flat()
    .map((type) => `${type}s`)
    .join(' or ');
}

function between(low: number | undefined, high: number | undefined, unit = ''): string {
  const [from, to] = [low, high].map((bound) => bound?.toLocaleString('en-US'));
  if (from !== undefined && to !== undefined) return `, ${from} to ${to}${unit}`;
  if (from !== undefined) return from === '0' ? '' : `, at least ${from}${unit}`;
  return to === undefined ? '' : `, at most ${to}${unit}`;
}

function above(bound: number | undefined): string {
  return bound === undefined ? '' : `, above ${bound}`;
}

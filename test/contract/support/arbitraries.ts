/**
 * Values by JSON Schema, for fast-check: those that keep every rule, and those that break exactly one. Of the language
 * of schemas it knows what our contract uses, and throws at anything else.
 */
import fc, { type Arbitrary } from '../../support/fast-check.ts';
import { escapeSegment, resolve, type JsonSchema } from './document.ts';

/** How values travel: as JSON, as named texts (of a form, of a query), as a segment of the path, in a header. */
export type Wire = 'json' | 'text' | 'segment' | 'header';

export interface BrokenValue {
  readonly value: unknown;
  /** The place that is broken, below the value. */
  readonly pointer: string;
}

export interface Break {
  /** Place and rule, such as `/messages/[]/content maxLength`. */
  readonly rule: string;
  readonly arbitrary: Arbitrary<BrokenValue>;
  /** Too large to be sent more than once. */
  readonly costly?: boolean;
}

/** What a `format: binary` is where it is to be valid. */
export type Recording = Uint8Array;

interface Style {
  readonly wire: Wire;
  readonly recording: Recording;
}

// ----------------------------------------------------------------------------------------------------- valid

export function validOf(reference: JsonSchema, style: Style): Arbitrary<unknown> {
  const schema = resolve(reference);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((choice) => validOf(choice, style)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return validObject(schema, style);
    case 'array':
      return validArray(schema, style);
    case 'string':
      return schema.format === 'binary' ? fc.constant(style.recording) : validText(schema, style);
    case 'number':
    case 'integer':
      return validNumber(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

/** In JSON it may have properties that the contract does not know. */
function validObject(schema: JsonSchema, style: Style): Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [] } = schema;
  const members = Object.entries(properties).map(([name, member]) => [name, validOf(member, style)] as const);
  const known = fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
  if (style.wire !== 'json') return known;
  const unknown = fc.dictionary(
    anyText.filter((name) => !Object.hasOwn(properties, name)),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 2 },
  );
  return fc.tuple(unknown, known).map(([more, object]) => ({ ...more, ...object }));
}

function validArray({ items = {}, minItems = 0, maxItems = 10 }: JsonSchema, style: Style): Arbitrary<unknown[]> {
  const item = validOf(items, style);
  const short = fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) });
  return fc.oneof({ weight: 9, arbitrary: short }, { weight: 1, arbitrary: repeated(item, maxItems) });
}

/** The same thing so many times: what counts is the length. */
function repeated<T>(item: Arbitrary<T>, length: number): Arbitrary<T[]> {
  return item.map((one) => Array.from({ length }, () => one));
}

/** Code points, of all planes; never half of a pair. */
const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const headerText = fc.stringMatching(/^([!-~]([ -~]{0,18}[!-~])?)?$/);

function validText({ minLength = 0, maxLength, pattern }: JsonSchema, { wire }: Style): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (wire === 'header') return headerText;
  const least = wire === 'json' ? minLength : Math.max(1, minLength); // an empty text counts as absent
  const most = Math.min(maxLength ?? Infinity, least + 20);
  const short = fc.string({ unit: 'binary', minLength: least, maxLength: most });
  return maxLength === undefined
    ? short
    : fc.oneof(
        { weight: 8, arbitrary: short },
        { weight: 1, arbitrary: textOf(least) },
        { weight: 1, arbitrary: textOf(maxLength) },
      );
}

function textOf(length: number): Arbitrary<string> {
  return fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map((one) => one.repeat(length));
}

const farthest = 1e300;

function validNumber({ type, minimum, maximum = farthest, exclusiveMinimum }: JsonSchema): Arbitrary<number> {
  const min = minimum ?? exclusiveMinimum ?? -farthest;
  if (type === 'integer') return fc.integer({ min, max: maximum });
  return fc.double({ min, max: maximum, noNaN: true, minExcluded: exclusiveMinimum !== undefined });
}

// ---------------------------------------------------------------------------------------------------- broken

/** For each rule of the schema, values that break it and no other. */
export function breaksOf(reference: JsonSchema, style: Style): Break[] {
  const schema = resolve(reference);
  if (schema.anyOf) return breaksOfNullable(schema.anyOf, style);
  const own = style.wire === 'json' ? [wrongTypes(schema)] : [];
  switch (schema.type) {
    case 'object':
      return [...own, ...breaksOfObject(schema, style)];
    case 'array':
      return [...own, ...breaksOfArray(schema, style)];
    case 'string':
      return [...own, ...(schema.enum ? [outsideOf(schema.enum, style)] : breaksOfText(schema, style))];
    case 'number':
    case 'integer':
      return [...own, ...breaksOfNumber(schema)];
    case 'boolean':
      return own;
    default:
      throw new Error(`no broken values for ${JSON.stringify(schema)}`);
  }
}

const here = (rule: string, values: Arbitrary<unknown>): Break => ({
  rule: ` ${rule}`,
  arbitrary: values.map((value) => ({ value, pointer: '' })),
});

/** `T | null`: what breaks T, but for null. */
function breaksOfNullable(choices: readonly JsonSchema[], style: Style): Break[] {
  const [schema, ...others] = choices.filter((choice) => resolve(choice).type !== 'null');
  if (!schema || others.length > 0) throw new Error(`no broken values for ${JSON.stringify(choices)}`);
  return breaksOf(schema, style).map(({ arbitrary, ...more }) => ({
    ...more,
    arbitrary: arbitrary.filter(({ value }) => value !== null),
  }));
}

const samples: Readonly<Record<string, Arbitrary<unknown>>> = {
  string: anyText,
  integer: fc.integer(),
  number: fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
  boolean: fc.boolean(),
  null: fc.constant(null),
  array: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
  object: fc.dictionary(anyText, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
};

function wrongTypes({ type = '' }: JsonSchema): Break {
  const right = type === 'number' ? ['number', 'integer'] : [type];
  const wrong = Object.entries(samples).filter(([name]) => !right.includes(name));
  return here('type', fc.oneof(...wrong.map(([, values]) => values)));
}

function outsideOf(known: readonly unknown[], { wire }: Style): Break {
  const near = fc.constantFrom(...known).map((value) => String(value).toUpperCase());
  const valid = wire === 'json' ? known : [...known, '']; // an empty text counts as absent
  return here(
    'enum',
    fc.oneof(near, anyText).filter((value) => !valid.includes(value)),
  );
}

function breaksOfText(schema: JsonSchema, { wire }: Style): Break[] {
  const { minLength = 0, maxLength, pattern, 'x-max-bytes': maxBytes } = schema;
  const breaks: Break[] = [];
  if (minLength > 0 && wire === 'json') {
    breaks.push(here('minLength', fc.string({ unit: 'binary', maxLength: minLength - 1 })));
  }
  if (maxLength !== undefined) {
    const tooLong = fc.integer({ min: 1, max: 20 }).chain((more) => textOf(maxLength + more));
    breaks.push(here('maxLength', tooLong));
  }
  if (maxBytes !== undefined) {
    const tooLarge = fc.constant(maxBytes).map((bytes) => new Uint8Array(bytes + 1));
    breaks.push({ ...here('x-max-bytes', tooLarge), costly: true });
  }
  if (pattern !== undefined) {
    const unlike = anyText.filter((text) => text !== '' && !new RegExp(pattern, 'u').test(text));
    breaks.push(here('pattern', unlike));
  }
  return breaks;
}

function breaksOfNumber({ type, minimum, maximum, exclusiveMinimum }: JsonSchema): Break[] {
  const below = (max: number) =>
    type === 'integer'
      ? fc.integer({ max: max - 1 })
      : fc.double({ min: -farthest, max, noNaN: true }).filter((value) => value < max); // -0 is not below 0
  const above = (min: number) =>
    type === 'integer'
      ? fc.integer({ min: min + 1 })
      : fc.double({ min, max: farthest, minExcluded: true, noNaN: true });
  const notAbove = (max: number) => fc.oneof(fc.constant(max), below(max));
  return [
    ...(minimum === undefined ? [] : [here('minimum', below(minimum))]),
    ...(exclusiveMinimum === undefined ? [] : [here('exclusiveMinimum', notAbove(exclusiveMinimum))]),
    ...(maximum === undefined ? [] : [here('maximum', above(maximum))]),
  ];
}

function breaksOfArray(schema: JsonSchema, style: Style): Break[] {
  const { items = {}, minItems = 0, maxItems } = schema;
  const item = validOf(items, style);
  const limits = [
    ...(minItems > 0 ? [here('minItems', fc.array(item, { maxLength: minItems - 1 }))] : []),
    ...(maxItems === undefined
      ? []
      : [
          here(
            'maxItems',
            fc.integer({ min: 1, max: 5 }).chain((more) => repeated(item, maxItems + more)),
          ),
        ]),
  ];
  const others = fc.array(item, { maxLength: Math.min((maxItems ?? 4) - 1, 3) });
  const within = breaksOf(items, style).map(({ rule, arbitrary, ...more }) => ({
    ...more,
    rule: `/[]${rule}`,
    arbitrary: fc.tuple(arbitrary, others, fc.nat({ max: 3 })).map(([broken, rest, place]) => {
      const index = Math.min(place, rest.length);
      return { value: rest.toSpliced(index, 0, broken.value), pointer: `/${index}${broken.pointer}` };
    }),
  }));
  return [...limits, ...within];
}

function breaksOfObject(schema: JsonSchema, style: Style): Break[] {
  const { properties = {}, required = [] } = schema;
  const whole = validObject(schema, style);
  // A path without one of its segments is another path.
  const missing = (style.wire === 'segment' ? [] : required).map((name) => ({
    rule: `/${name} required`,
    arbitrary: whole.map(({ [name]: _left, ...rest }) => ({ value: rest, pointer: `/${escapeSegment(name)}` })),
  }));
  const within = Object.entries(properties).flatMap(([name, property]) =>
    [...breaksOf(property, style), ...sentTwice(property, style)].map(({ rule, arbitrary, ...more }) => ({
      ...more,
      rule: `/${name}${rule}`,
      arbitrary: fc.tuple(whole, arbitrary).map(([object, { value, pointer }]) => ({
        value: { ...object, [name]: value },
        pointer: `/${escapeSegment(name)}${pointer}`,
      })),
    })),
  );
  return [...missing, ...within];
}

/** The one way in which a text has a wrong type: there are several. */
function sentTwice(schema: JsonSchema, style: Style): Break[] {
  if (style.wire !== 'text' || schema.type === 'array') return [];
  return [here('sent twice', fc.array(validOf(schema, style), { minLength: 2, maxLength: 2 }))];
}

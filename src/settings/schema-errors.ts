/** Describes schema errors of settings and engine options: the location, the value, and what is allowed. */
import { Ajv2020, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ajvOptions } from '../../lib/ajv-options.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';

/**
 * A URL such as `http://a:99999` may match a pattern and still be invalid. The format is IRI because hosts need not be
 * ASCII.
 */
const formats = { iri: (text: string): boolean => URL.canParse(text) } as const;

/** Ajv options required for these messages. */
export const explainable = { ...ajvOptions, allErrors: true, verbose: true, formats } as const;

/**
 * One instance for all schemas, because each instance recompiles the meta-schema, which takes 10 ms. Schemas are not
 * registered, so that several may have the same `$id`.
 */
const ajv = new Ajv2020({ ...explainable, addUsedSchema: false });

/** Compiles each schema object once. Throws for an invalid schema. */
export function compileExplainable<T = unknown>(schema: AnySchema): ValidateFunction<T> {
  return ajv.compile<T>(schema);
}

export interface SettingLocation {
  /** The environment variable, or the path in the file. */
  readonly where: string;
  /** Description of the allowed values, if it is clearer than Ajv's message. */
  readonly expects?: string | undefined;
  /** True if the value must not be shown. */
  readonly secret?: boolean | undefined;
  /** For each setting name, the settings that can replace it if it is missing. */
  readonly alternatives?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The setting that excludes this one. */
  readonly excludedBy?: string | undefined;
}

/** Returns one line per error. */
export function describeErrors(
  errors: readonly ErrorObject[],
  locationOf: (pointer: string) => SettingLocation,
): string[] {
  const misspelled = errors.map(spellingOf).filter((spelling) => spelling !== undefined);
  const isMisspelled = (name: string, path: string) =>
    misspelled.some(({ meant, instancePath }) => meant === name && instancePath === path);
  const lines = errors.filter(isInformative).map((error) => {
    const { where, expects, secret, alternatives, excludedBy } = locationOf(error.instancePath);
    const location = where === '' ? '' : `${where}: `;
    const spelling = spellingOf(error);
    if (spelling) {
      const { wrong, meant, known } = spelling;
      return `${location}unknown setting "${wrong}"; ${meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`}`;
    }
    if (error.keyword === 'required') {
      const { missingProperty } = error.params as { missingProperty: string };
      const names = [...(alternatives?.[missingProperty] ?? []), missingProperty];
      if (names.some((name) => isMisspelled(name, error.instancePath))) return undefined;
      return `${location}${names.map((name) => `"${name}"`).join(' or ')} is missing`;
    }
    if (error.keyword === 'false schema') {
      const others = excludedBy === undefined ? 'the other settings' : `"${excludedBy}"`;
      return `${location}not allowed together with ${others}`;
    }
    const rule = expects === undefined ? allowed(error, secret) : [expects, quoting(error, secret)].join('');
    return `${location}${shown(error.data, secret)} is not allowed: it ${rule}`;
  });
  return [...new Set(lines.filter((line) => line !== undefined))];
}

/** Returns the spelling to suggest for an unknown setting. */
function spellingOf({ keyword, params, parentSchema, instancePath }: ErrorObject) {
  if (keyword !== 'additionalProperties') return undefined;
  const wrong = (params as { additionalProperty: string }).additionalProperty;
  const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {});
  return { wrong, known, meant: didYouMean(wrong, known), instancePath };
}

/**
 * Returns false for errors of `if` and `propertyNames`, which only repeat other errors, and for type errors of
 * enumerations, because the enum error lists the values.
 */
function isInformative({ keyword, parentSchema }: ErrorObject): boolean {
  if (keyword === 'type') return (parentSchema as Described).enum === undefined;
  return keyword !== 'propertyNames' && keyword !== 'if';
}

function shown(value: unknown, secret: boolean | undefined): string {
  if (secret) return 'its value';
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return JSON.stringify(value);
}

/** The schema keywords that the messages use. */
interface Described {
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Described;
}

function allowed(error: ErrorObject, secret: boolean | undefined): string {
  const { keyword, schema, parentSchema, message, data } = error;
  const isUrl = (parentSchema as Described | undefined)?.format === 'iri';
  if (keyword === 'enum') return `must be one of ${(schema as unknown[]).join(', ')}`;
  if (isUrl && (keyword === 'format' || keyword === 'pattern')) {
    return 'must be an http or https URL without user, query and fragment, such as https://api.example.com/v1';
  }
  if (keyword === 'type' && schema === 'array') {
    const isShown = !secret && (typeof data === 'string' || typeof data === 'number');
    return `must be a list: ${isShown ? `[${JSON.stringify(data)}]` : '[value]'}`;
  }
  return keyword === 'type' ? typeOf(error, secret) : (message ?? keyword);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
};

/** Describes the allowed types, with an example. */
function typeOf(error: ErrorObject, secret: boolean | undefined): string {
  const types = [error.schema].flat() as string[];
  const quotes = quoting(error, secret);
  if (quotes !== '') return `must be a string${quotes}`;
  const value = exampleOf(types[0], error.parentSchema as Described);
  const example = value === undefined ? '' : `, such as ${assigned(error, value)}`;
  return `must be ${types.map((type) => typeNames[type] ?? type).join(' or ')}${example}`;
}

function exampleOf(type: string | undefined, schema: Described): string | undefined {
  const { minimum = -Infinity, maximum = Infinity, default: usual, required, additionalProperties: item } = schema;
  if (type === 'number' || type === 'integer') {
    const example = typeof usual === 'number' ? usual : type === 'number' ? 1.5 : 1;
    return String(Math.min(maximum, Math.max(minimum, example)));
  }
  if (type !== 'object') return undefined;
  if (required) return `{ ${required.map((name) => `${name}: ...`).join(', ')} }`;
  const nested = typeof item === 'object' && item.required ? exampleOf('object', item) : undefined;
  return nested && `{ NAME: ${nested} }`;
}

/** YAML parses 12345 and true as a number and a boolean, even if a key or a model id is meant. */
function quoting(error: ErrorObject, secret: boolean | undefined): string {
  const { keyword, schema, parentSchema, data } = error;
  const types = [schema].flat();
  const isScalar = typeof data === 'number' || typeof data === 'boolean';
  if (keyword !== 'type' || !isScalar || !types.includes('string') || types.includes('integer')) return '';
  if ((parentSchema as Described).format !== undefined) return '';
  // The original text of 1.10 or of a long number is lost in parsing.
  const isExact = !secret && (typeof data === 'boolean' || Number.isSafeInteger(data));
  return `; put quotes around it: ${assigned(error, isExact ? `"${String(data)}"` : '"..."')}`;
}

/** Returns the assignment `name: value`. An item of a list has no name. */
function assigned({ instancePath }: ErrorObject, value: string): string {
  const name = instancePath.split('/').at(-1) ?? '';
  return `\`${/^\d*$/.test(name) ? '' : `${name}: `}${value}\``;
}

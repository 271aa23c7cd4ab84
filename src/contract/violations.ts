/** Converts Ajv errors to violations as defined in the contract: part, JSON Pointer, and rule. */
import type { ErrorObject } from 'ajv';
import type { Schemas } from './operations.ts';

type Violation = Schemas['Violation'];

/** Parts of the object that openapi-backend validates. */
const parts: Readonly<Record<string, Violation['in']>> = {
  requestBody: 'body',
  query: 'query',
  path: 'path',
  header: 'header',
};

export function toViolations(errors: readonly ErrorObject[]): Violation[] {
  const seen = new Set<string>();
  const outer = placesAround(errors);
  const rules = errors.filter((error) => !isAboutNull(error));
  const explained = new Set(rules.filter((error) => !isAboutBits(error)).map(({ instancePath }) => instancePath));
  return rules
    .filter((error) => !isOfOtherType(error, outer) && !isOfOtherVariant(error, rules))
    .filter((error) => !(isAboutBits(error) && explained.has(error.instancePath)))
    .map(toViolation)
    .filter((violation) => {
      const key = `${violation.in}${violation.pointer}${violation.detail}`;
      return !seen.has(key) && seen.add(key);
    });
}

/** Whether the error only reports that a value of `T | null` is not null. The errors for T suffice. */
function isAboutNull({ keyword, params }: ErrorObject): boolean {
  return keyword === 'anyOf' || (keyword === 'type' && (params as { type: unknown }).type === 'null');
}

/** Whether the error is about the other type of `string | Part[]`. For an array, the errors for its parts suffice. */
function isOfOtherType({ keyword, instancePath }: ErrorObject, outer: ReadonlySet<string>): boolean {
  return keyword === 'type' && outer.has(instancePath);
}

/** Whether the error is about the `type` of another variant of a union. The errors for the sent variant suffice. */
function isOfOtherVariant({ keyword, instancePath, params }: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (keyword !== 'enum' || !instancePath.endsWith('/type')) return false;
  const { allowedValues } = params as { readonly allowedValues: readonly unknown[] };
  const object = instancePath.slice(0, -'type'.length);
  const isInside = (at: string) => `${at}/`.startsWith(object) && at !== instancePath;
  return allowedValues.length === 1 && all.some(({ instancePath: at }) => isInside(at));
}

/** Returns the pointers of all values that contain an error. */
function placesAround(errors: readonly ErrorObject[]): ReadonlySet<string> {
  const places = new Set<string>();
  for (const { instancePath } of errors) {
    for (let end = instancePath.lastIndexOf('/'); end > 0; end = instancePath.lastIndexOf('/', end - 1)) {
      places.add(instancePath.slice(0, end));
    }
  }
  return places;
}

/** Whether the error is about a format such as `int32`. Such values are reported as out of range instead. */
function isAboutBits({ keyword, params }: ErrorObject): boolean {
  return keyword === 'format' && /^u?int\d+$/.test((params as { format: string }).format);
}

function toViolation(error: ErrorObject): Violation {
  const [, part = '', ...segments] = error.instancePath.split('/');
  const missing =
    error.keyword === 'required' ? (error.params as { missingProperty: string }).missingProperty : undefined;
  if (missing !== undefined && part === '') return { in: parts[missing] ?? 'body', pointer: '', detail: 'is missing' };
  const place = missing === undefined ? segments : [...segments, escapeSegment(missing)];
  return { in: parts[part] ?? 'body', pointer: place.map((segment) => `/${segment}`).join(''), detail: ruleOf(error) };
}

function ruleOf(error: ErrorObject): string {
  const { keyword, params, message } = error;
  if (keyword === 'required') return 'is missing';
  if (isAboutBits(error)) return 'is out of range';
  if (keyword === 'enum') return `must be one of ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  return message ?? `violates "${keyword}"`;
}

/** Escapes a segment of a JSON Pointer (RFC 6901). */
function escapeSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

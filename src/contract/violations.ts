/** Ajv's errors as the contract's violations: where (part and JSON Pointer) and what the rule says. */
import type { ErrorObject } from 'ajv';
import type { Schemas } from './operations.ts';

type Violation = Schemas['Violation'];

/** openapi-backend validates one object made of these parts. */
const parts: Readonly<Record<string, Violation['in']>> = {
  requestBody: 'body',
  query: 'query',
  path: 'path',
  header: 'header',
};

export function toViolations(errors: readonly ErrorObject[]): Violation[] {
  const seen = new Set<string>();
  return errors
    .filter((error) => !isAboutNull(error) && !isAboutBits(error))
    .map(toViolation)
    .filter((violation) => {
      const key = `${violation.in}${violation.pointer}${violation.detail}`;
      return !seen.has(key) && seen.add(key);
    });
}

/** `T | null` is an anyOf: what T says of a wrong value is enough. */
function isAboutNull({ keyword, params }: ErrorObject): boolean {
  return keyword === 'anyOf' || (keyword === 'type' && (params as { type: unknown }).type === 'null');
}

/** `int32` says nothing to a caller that type and bounds do not say better. */
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

function ruleOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'is missing';
  if (keyword === 'enum') return `must be one of ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  return message ?? `breaks the rule "${keyword}"`;
}

/** RFC 6901. */
function escapeSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

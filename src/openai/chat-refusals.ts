/** Rejections of chat requests; each names the field to blame. */
import { invalid, ProblemError } from '../contract/problems.ts';
import { UnsupportedValue } from './errors.ts';

/** A field of the request, or an item in it: `['messages', 2, 'content']`. */
export type Field = readonly (string | number)[];

export function invalidField(field: Field, rule: string): ProblemError {
  return invalid('body', toPointer(field), rule);
}

export function unsupportedValue(field: Field, rule: string): ProblemError {
  return new UnsupportedValue(toPointer(field), `${field.join('/')} ${rule}`);
}

export function unsupportedParameter(field: Field, rule = 'is not supported'): ProblemError {
  const errors = [{ in: 'body', pointer: toPointer(field), detail: rule }] as const;
  return new ProblemError('parameter-not-supported', `${field.join('/')} ${rule}`, { errors });
}

export function toPointer(field: Field): string {
  return field.map((name) => `/${name}`).join('');
}

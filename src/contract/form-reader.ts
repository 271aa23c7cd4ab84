/** Reads the text fields of a form. */
import type { FormFields } from './operations.ts';
import { invalid } from './problems.ts';

export class FormReader {
  readonly #fields: FormFields;
  /** Names of fields that have no effect, or only a partial one. */
  readonly ignored = new Set<string>();

  constructor(fields: FormFields) {
    this.#fields = fields;
  }

  /** Returns the values of a field that may be repeated. */
  all(name: string): readonly string[] {
    return [this.#fields[name] ?? []].flat();
  }

  /** Returns the last value of a field; undefined if the field is absent. */
  last(name: string): string | undefined {
    return this.all(name).at(-1);
  }

  has(name: string): boolean {
    return this.all(name).length > 0;
  }

  /** Throws `invalid-request` if the value is not an integer in this range. */
  integer(name: string, least: number, most: number): number | undefined {
    const text = this.last(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw invalid('body', `/${name}`, `must be an integer from ${least} to ${most}`);
  }

  /** Returns false if the field is absent. Throws `invalid-request` if the value is not true, false, 1 or 0. */
  flag(name: string): boolean {
    const value = this.last(name) ?? 'false';
    if (/^(true|1)$/i.test(value)) return true;
    if (isFalse(value)) return false;
    throw invalid('body', `/${name}`, 'must be true or false');
  }
}

export function isFalse(value: string): boolean {
  return /^(false|0)$/i.test(value);
}

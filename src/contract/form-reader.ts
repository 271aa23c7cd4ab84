/** Reads the text fields of a form. */
import type { FormFields } from './operations.ts';
import { invalid } from './problems.ts';

export class FormReader {
  readonly #fields: FormFields;
  /** Names of fields that have no effect, or a part without one. */
  readonly ignored = new Set<string>();

  constructor(fields: FormFields) {
    this.#fields = fields;
  }

  /** The values of a field that may be repeated. */
  all(name: string): readonly string[] {
    return [this.#fields[name] ?? []].flat();
  }

  /** The last value of a repeated field; undefined if absent. */
  last(name: string): string | undefined {
    return this.all(name).at(-1);
  }

  has(name: string): boolean {
    return this.all(name).length > 0;
  }

  /** Throws `invalid-request` for a value that is not a whole number of this range. */
  integer(name: string, least: number, most: number): number | undefined {
    const text = this.last(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw invalid('body', `/${name}`, `must be an integer from ${least} to ${most}`);
  }

  /** Throws `invalid-request` for a value other than true and false. */
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

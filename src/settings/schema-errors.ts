/** Says what is wrong with settings: the place, the value, and what is allowed. Used for the service's and for engines'. */
import type { ErrorObject } from 'ajv/dist/2020.js';

/** An address may pass a pattern and still be none, such as `http://a:99999`. IRI: hosts need not be ASCII. */
const formats = { iri: (text: string): boolean => URL.canParse(text) } as const;

/** Ajv's options that give these errors what they need; the check of the schema itself would cost the start 50 ms. */
export const explainable = { allErrors: true, strict: false, verbose: true, validateSchema: false, formats } as const;

export interface Place {
  /** How the reader finds it: a variable, or a path in the file. */
  readonly where: string;
  /** What is allowed there, when the schema's own words are less clear. */
  readonly expects?: string | undefined;
  /** The value is never shown. */
  readonly secret?: boolean | undefined;
}

/** One line for each wrong place. */
export function describeErrors(errors: readonly ErrorObject[], placeOf: (pointer: string) => Place): string[] {
  const lines = errors.filter(saysMore).map((error) => {
    const { where, expects, secret } = placeOf(error.instancePath);
    const place = where === '' ? '' : `${where}: `;
    if (error.keyword === 'additionalProperties') {
      const wrong = (error.params as { additionalProperty: string }).additionalProperty;
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
      return `${place}"${wrong}" is no setting here; known are ${known.join(', ')}`;
    }
    if (error.keyword === 'required') {
      return `${place}"${(error.params as { missingProperty: string }).missingProperty}" is missing`;
    }
    if (error.keyword === 'false schema') return `${place}it does not go with the settings beside it`;
    return `${place}${shown(error.data, secret)} is not allowed: it ${expects ?? allowed(error)}`;
  });
  return [...new Set(lines)];
}

/** The verdict of a combination repeats what its branches have said. */
function saysMore({ keyword }: ErrorObject): boolean {
  return keyword !== 'propertyNames' && keyword !== 'if';
}

function shown(value: unknown, secret: boolean | undefined): string {
  if (secret) return 'its value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  return JSON.stringify(value);
}

function allowed({ keyword, schema, message }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${(schema as unknown[]).join(', ')}`;
  if (keyword === 'format' && schema === 'iri') return 'must be a valid URL';
  return message ?? keyword;
}

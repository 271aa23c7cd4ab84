/** Reads YAML that may contain secrets. */
import { createRequire } from 'node:module';

/** Loaded lazily, because loading takes 20 ms and most services have no settings file. */
const loadParser = () => createRequire(import.meta.url)('yaml') as typeof import('yaml');

/** Thrown for invalid settings. The message lists each location, its value and the allowed values. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Descriptions of mistakes, keyed by the parser's error codes. */
const yamlMistakes: Readonly<Record<string, string>> = {
  BAD_INDENT: 'the indentation differs from the lines around it, or a bracket is not closed',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  MULTIPLE_DOCS: 'a second document (---); only one is allowed',
  BLOCK_AS_IMPLICIT_KEY: 'a second "key: value" in one value; put a text that contains ": " into quotes',
  MULTILINE_IMPLICIT_KEY: 'a key needs a colon on the same line',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
  BAD_SCALAR_START: 'a text that begins with a reserved character such as @ or ` must be in quotes',
  BAD_DQ_ESCAPE: 'an unknown escape after a backslash; use single quotes',
  UNEXPECTED_TOKEN: 'something is at the wrong level, such as "key: value" after the items of a list',
  BAD_ALIAS: 'an alias (*name) without a name',
};

/** Inside brackets, YAML parses the `{` of a variable as the start of a mapping. */
const unquotedVariable = 'inside of { } or [ ], a value with a variable must be in quotes: "${NAME}"';

/** Describes a duplicate key. Shows its name only if it looks like the name of a setting. */
function duplicateKey(source: string, position: number): string {
  const [, name] = /^["']?([\w-]{1,64})["']?\s*:/.exec(source.slice(position)) ?? [];
  return `duplicate key${name === undefined ? '' : ` "${name}"`}; remove one of the two`;
}

/**
 * Returns {} for an empty file. Throws a `SettingsError` that shows only the position and the kind of mistake: the
 * parser's messages quote the file, which may contain keys.
 */
export function parseYaml(source: string, path: string): unknown {
  const document = loadParser().parseDocument(source);
  const [broken] = document.errors;
  if (broken) {
    const { line, col } = broken.linePos?.[0] ?? { line: 1, col: 1 };
    const isVariable = source.startsWith('${', broken.pos[0] - 1);
    const mistake = broken.code === 'DUPLICATE_KEY' ? duplicateKey(source, broken.pos[0]) : yamlMistakes[broken.code];
    const what = isVariable ? unquotedVariable : (mistake ?? 'the syntax is wrong');
    throw new SettingsError(`${path} is not YAML: line ${String(line)}, column ${String(col)}: ${what}`);
  }
  try {
    const values: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    JSON.stringify(values); // throws for circular values
    return values;
  } catch (cause) {
    throw new SettingsError(`${path} is not YAML: an alias is undefined, refers to itself or expands too often`, {
      cause,
    });
  }
}

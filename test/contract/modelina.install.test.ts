/** Modelina makes types of the socket's events, each with the name that its schema has in the document. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { npm } from '../package/support/installed.ts';
import { run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const home = join(import.meta.dirname, '../..');
const document = join(home, 'generated/asyncapi-compat.json');

type Types = Readonly<
  Record<'TypeScript' | 'Go' | 'Python', { readonly names: readonly string[]; readonly source: string }>
>;

it('in TypeScript, Go and Python, and those of TypeScript compile', { timeout: 300_000 }, async () => {
  const directory = await temporaryDirectory();
  await cp(join(home, 'test/programs/modelina'), directory, { recursive: true });
  await npm(directory, 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  const types = JSON.parse(await run(process.execPath, [join(directory, 'types.mjs'), document])) as Types;

  const { components } = JSON.parse(await readFile(document, 'utf8')) as { components: { schemas: object } };
  const schemas = Object.keys(components.schemas);
  // A union of other types has a name of its own only in Go.
  const others = Object.entries(components.schemas).flatMap(([name, schema]) =>
    'anyOf' in (schema as object) ? [] : [name],
  );
  // The union of what the channel `realtime` sends: it has no name in Python.
  const named = { TypeScript: ['Realtime', ...others], Go: ['Realtime', ...schemas], Python: ['', ...others] };
  for (const language of ['TypeScript', 'Go', 'Python'] as const) {
    // In Go, a nullable reference has a type of its own.
    const names = types[language].names.map((name) => name.replace(/^Nullable/, ''));
    expect([...new Set(names)].sort(), language).toEqual(named[language].sort());
  }

  const source = join(directory, 'types.ts');
  await writeFile(source, types.TypeScript.source);
  const tsc = join(home, 'node_modules/@typescript/native/bin/tsc');
  await run(process.execPath, [tsc, '--strict', '--noEmit', '--ignoreConfig', '--types', '', source]);
});

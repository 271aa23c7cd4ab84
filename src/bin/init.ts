/** `parlance init`: writes an example settings file that changes nothing until lines are uncommented. Never overwrites. */
import { writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exampleFile } from '../settings/example-file.ts';

const { PARLANCE_CONFIG: named = '' } = process.env;
const path = resolve(named === '' ? 'parlance.config.yaml' : named);
const schema = fileURLToPath(new URL('../../generated/config.schema.json', import.meta.url));

try {
  writeFileSync(path, exampleFile(relative(dirname(path), schema)), { flag: 'wx' });
  console.log(`${path} has every setting as a comment: remove the # of those that you change.`);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.error(
    code === 'EEXIST' ? `${path} exists already; it stays as it is.` : `${path} cannot be written: ${message}`,
  );
  process.exitCode = 1;
}

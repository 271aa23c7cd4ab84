/** `parlance init`: writes an example settings file that changes nothing until lines are uncommented. Never overwrites. */
import { writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCommandLine } from './command-line.ts';
import { exampleFile } from '../settings/example-file.ts';

const args = readCommandLine({
  command: 'init',
  about: `Writes an example settings file with every setting commented out, parlance.config.yaml in the working directory or
the FILE of --config. It changes nothing until a # is removed, and overwrites no file.`,
  example: ['--config', 'my.config.yaml'],
  takes: ['config'],
});
if (args) writeExample();

function writeExample(): void {
  const { PARLANCE_CONFIG: named = '' } = process.env;
  const path = resolve(named === '' ? 'parlance.config.yaml' : named);
  const schema = fileURLToPath(new URL('../../generated/config.schema.json', import.meta.url));
  try {
    writeFileSync(path, exampleFile(relative(dirname(path), schema)), { flag: 'wx' });
    console.log(`Created ${path} with every setting commented out; remove the # of those that you change.`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    console.error(
      code === 'EEXIST' ? `${path} already exists; not overwritten.` : `${path} cannot be written: ${message}`,
    );
    process.exitCode = 1;
  }
}

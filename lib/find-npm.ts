import { dirname, join } from 'node:path';
import { installCommand } from './setup-command.ts';
import { findExecutable, isExecutable } from './find-executable.ts';

/** Looks next to node, then on `path`. Throws if npm is not found. */
export function findNpm(path = ''): string {
  const beside = join(dirname(process.execPath), 'npm');
  const npm = isExecutable(beside) ? beside : findExecutable('npm', path);
  if (npm === undefined) throw new Error(`npm not found, beside node or on PATH (fix: ${installCommand('npm')})`);
  return npm;
}

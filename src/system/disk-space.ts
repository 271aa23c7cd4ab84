/** Checks whether a download fits on the disk. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { EngineError } from '../../engines/contract/index.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { spaceOf } from './disk-budget.ts';

/** Free space that is kept for the rest of the service. */
const reservedBytes = 64 * 2 ** 20;

/**
 * Throws `storage-full` unless the file system of the directory has room for the bytes. The directory need not exist
 * yet.
 */
export function requireSpace(directory: string, bytes: number, space = spaceOf): void {
  const { freeBytes } = space(nearestExisting(directory));
  if (bytes === 0 || freeBytes >= bytes + reservedBytes) return;
  const [needed, free] = [bytes + reservedBytes, freeBytes].map(megabytes);
  throw new EngineError('storage-full', `It needs ${needed} of disk; ${free} are free.`);
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

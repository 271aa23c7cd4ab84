/** Recognizes failures caused by a resource limit of the process or the machine. */
import { errnoOf } from './errors.ts';
import { sqliteCodeOf, sqliteCodes } from './sqlite.ts';

/** Out of file descriptors: the process (EMFILE) or the machine (ENFILE). */
const descriptorCodes = ['EMFILE', 'ENFILE'];

/** From fork: too many processes, or out of memory. */
const forkCodes = ['EAGAIN', 'ENOMEM'];

/** Whether the error or one of its causes means that file descriptors, processes or threads have run out. */
export function isAtMachineLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall = '', message, cause } = error as NodeJS.ErrnoException;
  if (descriptorCodes.includes(code) || code === 'ERR_WORKER_INIT_FAILED') return true;
  if (forkCodes.includes(code) && syscall.startsWith('spawn')) return true;
  // Errors from worker threads arrive without their code, and a failed read of a package.json has only this message.
  if (/^(EMFILE|ENFILE): /.test(message) || message.endsWith(': too many open files.')) return true;
  return isAtMachineLimit(cause);
}

/** True if a file could not be written because the disk, or the quota of this user, is full. */
export function isDiskFull(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || sqliteCodeOf(error) === sqliteCodes.full;
}

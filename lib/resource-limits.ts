/** Failures that say that this process or its machine is at a limit, and not that something is broken. */

/** Of file descriptors: this process has no more, or the whole machine. */
const descriptorCodes = ['EMFILE', 'ENFILE'];

/** Of fork: too many processes, or no memory for another one. */
const forkCodes = ['EAGAIN', 'ENOMEM'];

/** Whether the failure, or one that caused it, is that file descriptors, processes or threads have run out. */
export function isAtMachineLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall = '', message, cause } = error as NodeJS.ErrnoException;
  if (descriptorCodes.includes(code) || code === 'ERR_WORKER_INIT_FAILED') return true;
  if (forkCodes.includes(code) && syscall.startsWith('spawn')) return true;
  // An error from another thread arrives without its code, and Node reports a package.json like this.
  if (/^(EMFILE|ENFILE): /.test(message) || message.endsWith(': too many open files.')) return true;
  return isAtMachineLimit(cause);
}

import { totalmem } from 'node:os';

/** Memory of this machine, or of its container if that has less, in bytes. */
export const machineMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back what only the start has needed. Loading modules and compiling schemas makes V8 widen the room for young
 * objects, which it keeps: without this the service stays 40 MB larger. Takes some 70 ms.
 */
export function shrinkHeap(): void {
  setFlagsFromString('--expose-gc'); // in contexts made from now on
  const gc = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }); // the only one that narrows that room
}

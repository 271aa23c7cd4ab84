/** Settings of V8 for a service. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8 allocates objects directly in the old space if earlier ones from the same place survived: with a thousand live
 * streams, each of their events, until the next full collection. docs/decisions/13-memory-of-a-stream.md has the
 * figures.
 */
export function keepYoungObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * V8 runs a full collection whenever a small heap has grown by some 10 MB, and the buffers of sockets and files count:
 * three for an upload of 25 MB, half of its processor time. With 150 percent, 30 MB grow to 75 MB before the next one.
 * docs/decisions/13-memory-of-a-stream.md has the figures.
 */
export function letHeapGrow(): void {
  setFlagsFromString('--heap-growing-percent=150');
}

/**
 * V8 compiles a function with its best compiler after 3,000 calls. With 500, the first 2,000 chats of a service cost a
 * fifth more, the next 6,000 half as much (0.13 instead of 0.27 ms of processor time each), all later ones the same.
 */
export function optimizeEarly(): void {
  setFlagsFromString('--invocation-count-for-turbofan=500');
}

/**
 * Releases memory that only the startup needed. Loading modules and compiling schemas makes V8 grow the young generation,
 * and it does not shrink it: without this the service uses 40 MB more. Takes about 70 ms.
 */
export function shrinkHeap(): void {
  setFlagsFromString('--expose-gc'); // for contexts created from now on
  const gc = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }); // the only one that shrinks the young generation
}

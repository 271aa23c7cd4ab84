/**
 * Counts the requests in flight of each key. Synchronous within one process, so that no other request can pass between
 * the check and the count.
 */

export interface ConcurrencySlots {
  /** Takes a slot unless the key already has `most`. */
  take(name: string, most: number): boolean | Promise<boolean>;
  /** Releases a slot. */
  release(name: string): void;
  /** Returns the number of requests in flight for a key with the limit `most`. */
  used(name: string, most: number): number;
}

/** Creates slots for this process. */
export function createConcurrencySlots(): ConcurrencySlots {
  const taken = new Map<string, number>();
  const used = (name: string) => taken.get(name) ?? 0;
  return {
    used,
    take(name, most) {
      if (used(name) >= most) return false;
      taken.set(name, used(name) + 1);
      return true;
    },
    release(name) {
      if (used(name) > 1) taken.set(name, used(name) - 1);
      else taken.delete(name);
    },
  };
}

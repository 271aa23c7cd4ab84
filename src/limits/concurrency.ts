/**
 * Counts the requests in flight of each key. In one process it is synchronous: between the check and the count, no other
 * request can pass.
 */

export interface ConcurrencySlots {
  /** Takes a slot unless the key has that many. */
  take(name: string, most: number): boolean | Promise<boolean>;
  /** Releases one. */
  release(name: string): void;
  /** Requests in flight of a key that may have `most`. */
  used(name: string, most: number): number;
}

/** For this process. */
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

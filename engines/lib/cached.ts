/**
 * Caches the search for a program: it reads every directory of PATH, which is too expensive for every listing and every
 * chat.
 */
const cacheMs = 2_000;

export interface Cached<T> {
  (): T;
  /** Discards the cached result. */
  forget(): void;
}

/** Returns the result of the last search for two seconds. `now` is in milliseconds. */
export function cached<T>(search: () => T, now: () => number): Cached<T> {
  let found: { readonly value: T; readonly until: number } | undefined;
  const find = () => {
    if (!found || now() >= found.until) found = { value: search(), until: now() + cacheMs };
    return found.value;
  };
  return Object.assign(find, { forget: () => (found = undefined) });
}

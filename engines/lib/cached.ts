/** A search reads every directory of PATH: too expensive for every listing and every chat. */
const cacheMs = 2_000;

/** The result of the last search, for two seconds; `now` in milliseconds. */
export function cached<T>(search: () => T, now: () => number): () => T {
  let found: { readonly value: T; readonly until: number } | undefined;
  return () => {
    if (!found || now() >= found.until) found = { value: search(), until: now() + cacheMs };
    return found.value;
  };
}

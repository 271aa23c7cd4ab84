/** Ids of tool calls, which match each call with its output. */

/** Replaces missing and duplicate ids with generated ones. */
export function distinctIds(ids: readonly string[], nextId: () => string): readonly string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const own = id === '' || taken.has(id) ? nextId() : id;
    taken.add(own);
    return own;
  });
}

/** Generates ids that every provider accepts: Mistral requires nine letters and digits. */
export function createIds(): () => string {
  let count = 0;
  return () => `call${String(++count).padStart(5, '0')}`;
}

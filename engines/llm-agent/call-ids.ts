/** Ids of tool calls, by which each finds its output again. */

/** With ids of our own in place of those that are missing or are there twice. */
export function distinctIds(ids: readonly string[], nextId: () => string): readonly string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const own = id === '' || taken.has(id) ? nextId() : id;
    taken.add(own);
    return own;
  });
}

/** Makes ids that every provider takes: Mistral wants nine letters and digits. */
export function createIds(): () => string {
  let count = 0;
  return () => `call${String(++count).padStart(5, '0')}`;
}

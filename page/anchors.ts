/**
 * Places each notice in the conversation: after the turn that was last when the notice appeared. Pure, except for its
 * memory.
 */

interface Named {
  readonly name: string;
}

export class Anchors {
  readonly #anchors = new Map<string, number | undefined>();

  /** Notices by the id of the turn before them; undefined for the beginning of the conversation. */
  place<N extends Named>(notices: readonly N[], turnIds: readonly number[]): ReadonlyMap<number | undefined, N[]> {
    for (const name of this.#anchors.keys()) {
      if (!notices.some((notice) => notice.name === name)) this.#anchors.delete(name);
    }
    const placed = new Map<number | undefined, N[]>();
    for (const notice of notices) {
      const at = this.#anchorOf(notice.name, turnIds);
      placed.set(at, [...(placed.get(at) ?? []), notice]);
    }
    return placed;
  }

  /** In another conversation, or when its turn was replaced, the notice is at the end. */
  #anchorOf(name: string, turnIds: readonly number[]): number | undefined {
    const known = this.#anchors.get(name);
    const isThere = known === undefined ? this.#anchors.has(name) : turnIds.includes(known);
    if (!isThere) this.#anchors.set(name, turnIds.at(-1));
    return this.#anchors.get(name);
  }
}

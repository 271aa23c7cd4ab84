/** The texts of a round, collected from its deltas. */
import type { Delta } from './delta.ts';
import { ThoughtSplitter } from './thoughts.ts';

export class RoundText {
  readonly #thoughts = new ThoughtSplitter();
  /** Lists of pieces instead of strings: each `+=` would keep an object in memory. */
  readonly #content: string[] = [];
  readonly #reasoning: string[] = [];

  /** Returns the deltas to emit for those that arrived together. */
  take(deltas: readonly Delta[]): readonly Delta[] {
    return this.#keep(deltas.flatMap((delta) => this.#thoughts.take(delta)));
  }

  /** Returns the last deltas. */
  end(): readonly Delta[] {
    return this.#keep(this.#thoughts.end());
  }

  get content(): string {
    return this.#content.join('');
  }

  get reasoning(): string {
    return this.#reasoning.join('');
  }

  #keep(deltas: readonly Delta[]): readonly Delta[] {
    const shown = merged(deltas);
    for (const { type, delta } of shown) (type === 'content-delta' ? this.#content : this.#reasoning).push(delta);
    return shown;
  }
}

/** Joins deltas that arrived together: a slow reader receives fewer and longer ones. */
function merged(deltas: readonly Delta[]): readonly Delta[] {
  if (deltas.length < 2) return deltas;
  const result: Delta[] = [];
  for (const next of deltas) {
    const last = result.at(-1);
    if (last?.type === next.type) result[result.length - 1] = { type: last.type, delta: last.delta + next.delta };
    else result.push(next);
  }
  return result;
}

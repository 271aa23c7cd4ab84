/** Whose turn it is in a line that is served round robin by caller. */

/** A caller with at least one job. */
export interface Line<W> {
  /** Oldest first. */
  readonly waiting: Set<W>;
  running: number;
}

/** The waiting caller with the fewest running jobs; among equals, the first in turn. */
export function nextInTurn<W>(lines: Iterable<Line<W>>): Line<W> | undefined {
  let next: Line<W> | undefined;
  for (const line of lines) {
    if (line.waiting.size > 0 && (next === undefined || line.running < next.running)) next = line;
  }
  return next;
}

/**
 * The waiting jobs in the order in which they will start if no other job arrives and the running ones end in the order of
 * their start. `lines` in order of turn, `running` with the line of each running job.
 */
export function servingOrder<W>(lines: Iterable<Line<W>>, running: readonly Line<W>[]): W[] {
  const copies = new Map([...lines].map((line) => [line, { ...line, waiting: new Set(line.waiting) }]));
  const turns = new Set(copies.values());
  const busy = running.flatMap((line) => copies.get(line) ?? []);
  const order: W[] = [];
  for (;;) {
    const ended = busy.shift();
    if (ended) {
      ended.running -= 1;
      turns.delete(ended);
      turns.add(ended);
    }
    const next = nextInTurn(turns);
    if (!next) return order;
    const [oldest] = next.waiting as Set<W> & Iterable<W>;
    order.push(oldest as W); // lines in turn have one
    next.waiting.delete(oldest as W);
    next.running += 1;
    busy.push(next);
  }
}

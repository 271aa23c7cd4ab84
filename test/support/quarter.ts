/**
 * A large table of which a push runs a fixed quarter, in the file with the other tests, and a `*.table.test.ts` beside it
 * the rest: see test/parts.ts.
 */
export interface Quarter<Row> {
  /** The first row of each kind, and every fourth of all. */
  readonly quarter: readonly Row[];
  readonly rest: readonly Row[];
}

/** `kindOf` names what each push must see: a format, a language. */
export function quarterOf<Row>(rows: readonly Row[], kindOf: (row: Row) => string): Quarter<Row> {
  const seen = new Set<string>();
  const { quarter = [], rest = [] } = Object.groupBy(rows, (row) => {
    const kind = kindOf(row);
    const isFirst = !seen.has(kind);
    seen.add(kind);
    return isFirst || rows.indexOf(row) % 4 === 3 ? 'quarter' : 'rest';
  });
  return { quarter, rest };
}

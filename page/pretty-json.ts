/**
 * Formats JSON for people, cut below a depth: the cost of indentation grows with the square of the depth, and deep
 * values overflow the stack. Pure.
 */
export const maxDepth = 24;

export const prettyJson = (value: unknown): string => JSON.stringify(cut(value, maxDepth), null, 2);

function cut(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.map((item) => cut(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner, depth - 1)]));
}

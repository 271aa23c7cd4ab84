/** Byte ranges (RFC 9110, section 14.1). */

export type RequestedRange = { readonly first: number; readonly last: number } | { readonly suffix: number };

/**
 * Parses a Range header; `last` is Infinity for an open range. Returns undefined if the header is absent or must be
 * ignored because of another unit, several ranges, or invalid syntax.
 */
export function parseRange(header = ''): RequestedRange | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header) ?? [];
  if (from === '') return to === '' ? undefined : { suffix: Number(to) };
  const range = { first: Number(from), last: to === '' ? Infinity : Number(to) };
  return range.last < range.first ? undefined : range;
}

/** Resolves the range for a given size; undefined if it is not satisfiable. */
export function locate(
  range: RequestedRange,
  bytes: number,
): { readonly first: number; readonly last: number } | undefined {
  const end = bytes - 1;
  const { first, last } = 'suffix' in range ? { first: Math.max(0, bytes - range.suffix), last: end } : range;
  return first > end ? undefined : { first, last: Math.min(last, end) };
}

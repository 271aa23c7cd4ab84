/** Ranges of bytes (RFC 9110, 14.1). */

export type ByteRange = { readonly first: number; readonly last: number } | { readonly suffix: number };

/**
 * What a Range header asks for; `last` is Infinity when it asks for all the rest. Undefined when there is none, and for
 * one that is to be ignored: another unit, several ranges, or no valid one.
 */
export function parseRange(header = ''): ByteRange | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header) ?? [];
  if (from === '') return to === '' ? undefined : { suffix: Number(to) };
  const range = { first: Number(from), last: to === '' ? Infinity : Number(to) };
  return range.last < range.first ? undefined : range;
}

/** Where the range lies within so many bytes; undefined when it cannot be satisfied. */
export function locate(range: ByteRange, bytes: number): { readonly first: number; readonly last: number } | undefined {
  const end = bytes - 1;
  const { first, last } = 'suffix' in range ? { first: Math.max(0, bytes - range.suffix), last: end } : range;
  return first > end ? undefined : { first, last: Math.min(last, end) };
}

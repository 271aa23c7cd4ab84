/** Formats a size for people, in millions of bytes; at least 1 MB unless the size is 0. */
export function megabytes(bytes: number): string {
  const size = bytes / 1_000_000;
  return `${Math.round(size) || Math.ceil(size)} MB`;
}

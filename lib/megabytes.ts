/** Formats a size for people, in millions of bytes; at least 1 MB, even for a small file. */
export function megabytes(bytes: number): string {
  const size = bytes / 1_000_000;
  return `${Math.round(size) || Math.ceil(size)} MB`;
}

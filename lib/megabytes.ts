/** For people, in millions of bytes: 1 MB for a small file. */
export function megabytes(bytes: number): string {
  const size = bytes / 1_000_000;
  return `${Math.round(size) || Math.ceil(size)} MB`;
}

/** Returns a hash that distinguishes keys, too short to recover the key (FNV-1a, 32 bits). */
export function ownerOf(key: string | undefined): string {
  if (key === undefined) return '';
  let hash = 0x811c9dc5;
  for (const character of new TextEncoder().encode(key)) hash = Math.imul(hash ^ character, 0x01000193) >>> 0;
  return hash.toString(16);
}

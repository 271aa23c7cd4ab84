/** Tool names that every provider accepts: `[a-zA-Z0-9_-]{1,64}`. */
import { createHash } from 'node:crypto';

const longest = 64;
const valid = new RegExp(`^[a-zA-Z0-9_-]{1,${longest}}$`);
const digestLength = 8;

/**
 * `server__tool`; if that is not valid or already taken, its end is replaced by a digest of both. A tool thus keeps its
 * name whatever else the servers offer.
 */
export function nameTool(server: string, tool: string, taken: Pick<ReadonlySet<string>, 'has'>): string {
  const plain = `${server}__${tool}`;
  if (valid.test(plain) && !taken.has(plain)) return plain;
  const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, digestLength);
  const start = plain.slice(0, longest - digestLength - 1).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${start}_${digest}`;
}

/** Derives the connection limit from the file descriptor limit. */
import { readFileSync } from 'node:fs';

/**
 * The limit without /proc (macOS and others): Node.js raises the soft limit to the hard limit, which is at least this.
 */
const assumedLimit = 4_096;

const maxConnections = 10_000;
const minConnections = 16;

/**
 * The service itself uses 24 descriptors after startup (Node.js, log, worker pipes); a child process needs 6 while it
 * starts.
 */
const ownDescriptors = 64;

/**
 * Returns a quarter of the remaining soft limit (RLIMIT_NOFILE), because a request in flight may use three descriptors
 * besides its connection (speech: the provider's connection, and the spool file once for writing and once for reading).
 */
export function connectionLimit(descriptors = softLimit()): number {
  const connections = Math.floor((descriptors - ownDescriptors) / 4);
  return Math.min(maxConnections, Math.max(minConnections, connections));
}

function softLimit(): number {
  try {
    const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number.parseInt(soft, 10) || assumedLimit;
  } catch {
    return assumedLimit;
  }
}

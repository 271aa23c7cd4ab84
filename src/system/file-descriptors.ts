/** How many connections this process has file descriptors for. */
import { readFileSync } from 'node:fs';

/** macOS, and whatever else has no /proc: Node raises the soft limit to the hard one, which is at least this. */
const assumedLimit = 4_096;

const maxConnections = 10_000;
const minConnections = 16;

/** The service holds 24 after its start (Node's own, the log, worker pipes); a child process needs 6 while it starts. */
const ownDescriptors = 64;

/**
 * A quarter of what the soft limit (RLIMIT_NOFILE) leaves: a request in flight may hold three descriptors beside its
 * connection (speech: the provider's connection, and its file for the one who writes and for the one who reads).
 */
export function connectionLimit(descriptors = softLimit()): number {
  const places = Math.floor((descriptors - ownDescriptors) / 4);
  return Math.min(maxConnections, Math.max(minConnections, places));
}

function softLimit(): number {
  try {
    const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number.parseInt(soft, 10) || assumedLimit;
  } catch {
    return assumedLimit;
  }
}

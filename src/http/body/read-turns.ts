/**
 * Limits the number of upload chunks read per iteration of the event loop, so that small requests are served in
 * between. Otherwise an iteration reads a chunk or more of every upload in flight before the next small request.
 */
const readsPerTurn = 8;

const waiting: (() => void)[] = [];
let isScheduled = false;

/** Calls `read` once, in a later iteration of the event loop. */
export function scheduleRead(read: () => void): void {
  waiting.push(read);
  schedule();
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(serve);
}

function serve(): void {
  for (const read of waiting.splice(0, readsPerTurn)) read();
  isScheduled = false;
  schedule();
}

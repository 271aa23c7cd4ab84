/**
 * Recordings are read in turns: between two of them the event loop serves everybody else. Otherwise one round of it reads a
 * chunk or more of every upload in flight before the next small request.
 */
const perTurn = 8;

const waiting: (() => void)[] = [];
let isScheduled = false;

/** Calls `read` once, when its turn has come: not before this call has returned. */
export function takeTurn(read: () => void): void {
  waiting.push(read);
  schedule();
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(serve);
}

function serve(): void {
  for (const read of waiting.splice(0, perTurn)) read();
  isScheduled = false;
  schedule();
}

/**
 * Queues work that comes in pieces of a few milliseconds: chunks of uploads, and events and audio of live sessions.
 * Each iteration of the event loop runs only some of the pieces, in order, so that small requests and timers are not
 * delayed by everything that is in flight.
 */
const perIteration = 8;

const waiting: (() => void)[] = [];
let isScheduled = false;

/** Calls `work` once, in a later iteration of the event loop. */
export function inTurn(work: () => void): void {
  waiting.push(work);
  schedule();
}

/** Resolves in a later iteration of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise(inTurn);
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(serve);
}

function serve(): void {
  for (const work of waiting.splice(0, perIteration)) work();
  isScheduled = false;
  schedule();
}

/**
 * Decides which caller of a shared queue is next, using start-time fair queueing. Each call adds 1 / weight to the
 * virtual time of its caller, and the caller with the lowest virtual time is next. Deficit round robin would give the
 * same shares, but a caller of weight 10 would start ten calls in a row.
 */

/** The calls of one caller. */
export interface CallerQueue<W> {
  readonly caller: string;
  /** The caller's share relative to other callers. */
  weight: number;
  /** Waiting calls, oldest first. */
  readonly waiting: Set<W>;
  running: number;
  /** Virtual time at which its last call has used its share. */
  served: number;
}

export interface FairScheduler<W> {
  readonly slots: number;
  /**
   * Queues by caller, in order of their last start. Queues without calls are kept, so that a caller does not gain an
   * advantage by leaving and returning.
   */
  readonly queues: Map<string, CallerQueue<W>>;
  /** Virtual time of the last start. */
  time: number;
}

export const createFairScheduler = <W>(slots: number): FairScheduler<W> => ({ slots, queues: new Map(), time: 0 });

export function callsOf<W>(queue: CallerQueue<W> | undefined): number {
  return queue === undefined ? 0 : queue.waiting.size + queue.running;
}

/** Maximum number of queues without calls. If there are more, the oldest are dropped. */
const maxIdle = 64;

/** Returns the queue of a caller, and creates it if necessary. */
export function queueOf<W>({ queues, time }: FairScheduler<W>, caller: string, weight: number): CallerQueue<W> {
  const queue = queues.get(caller) ?? { caller, weight, waiting: new Set(), running: 0, served: time };
  queue.weight = weight; // keys may be reloaded
  queues.set(caller, queue);
  return queue;
}

export function startCall<W>(scheduler: FairScheduler<W>, queue: CallerQueue<W>): void {
  const { queues } = scheduler;
  scheduler.time = Math.max(scheduler.time, queue.served);
  queue.served = scheduler.time + 1 / queue.weight;
  queue.running += 1;
  queues.delete(queue.caller);
  queues.set(queue.caller, queue);
  forgetIdle(scheduler);
}

export function endCall<W>(scheduler: FairScheduler<W>, queue: CallerQueue<W>): void {
  queue.running -= 1;
  forgetIdle(scheduler);
}

/** Call this whenever a queue may have become empty. */
export function forgetIdle<W>({ queues, time }: FairScheduler<W>): void {
  const idle = [...queues.values()].filter((queue) => callsOf(queue) === 0);
  const kept = idle.length === queues.size ? 0 : maxIdle;
  for (const [index, queue] of idle.entries()) {
    if (queue.served <= time || index < idle.length - kept) queues.delete(queue.caller);
  }
}

/**
 * Returns the next caller to serve. Waiting callers that hold fewer slots than their share come first (so a long call
 * counts while it runs); among these, the one that has been served least.
 */
export function nextCaller<W>(scheduler: FairScheduler<W>): CallerQueue<W> | undefined {
  let weights = 0;
  for (const queue of scheduler.queues.values()) if (callsOf(queue) > 0) weights += queue.weight;
  let next: CallerQueue<W> | undefined;
  let best: readonly [number, number] = [Infinity, Infinity];
  for (const queue of scheduler.queues.values()) {
    if (queue.waiting.size === 0) continue;
    const share = (scheduler.slots * queue.weight) / weights;
    const rank = queue.running < Math.floor(share) ? 0 : queue.running < share ? 1 : 2;
    const served = Math.max(queue.served, scheduler.time);
    if (rank > best[0] || (rank === best[0] && served >= best[1])) continue;
    next = queue;
    best = [rank, served];
  }
  return next;
}

/**
 * Returns the waiting calls in the order in which they will start if no other call arrives and the running calls end in
 * the order of their start. `running` contains the queue of each running call.
 */
export function servingOrder<W>(scheduler: FairScheduler<W>, running: readonly CallerQueue<W>[]): W[] {
  const queues = [...scheduler.queues].map(
    ([caller, queue]) => [caller, { ...queue, waiting: new Set(queue.waiting) }] as const,
  );
  const copy: FairScheduler<W> = { ...scheduler, queues: new Map(queues) };
  const busy = running.flatMap(({ caller }) => copy.queues.get(caller) ?? []);
  const order: W[] = [];
  for (;;) {
    const ended = busy.shift();
    if (ended) endCall(copy, ended);
    const next = nextCaller(copy);
    if (!next) return order;
    const [oldest] = next.waiting as Set<W> & Iterable<W>;
    order.push(oldest as W); // queues that are next always have a waiting call
    startCall(copy, next);
    next.waiting.delete(oldest as W);
    busy.push(next);
  }
}

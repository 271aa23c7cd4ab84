/**
 * Whose turn it is in a line that is shared by callers: start-time fair queueing. Each job adds 1 / weight to the virtual
 * time of its caller, and the caller with the least is next. Deficit round robin has the same shares, but a caller of
 * weight 10 would start ten jobs in a row.
 */

/** The jobs of one caller. */
export interface CallerQueue<W> {
  readonly caller: string;
  /** Its share, relative to those of others. */
  weight: number;
  /** Oldest first. */
  readonly waiting: Set<W>;
  running: number;
  /** Virtual time at which its last job has had its share. */
  served: number;
}

export interface FairScheduler<W> {
  readonly slots: number;
  /** By caller, in order of their last start. Some have no jobs: a caller must not gain a share by coming back. */
  readonly queues: Map<string, CallerQueue<W>>;
  /** Virtual time: that of the last start. */
  time: number;
}

export const createFairScheduler = <W>(slots: number): FairScheduler<W> => ({ slots, queues: new Map(), time: 0 });

export function jobsOf<W>(line: CallerQueue<W> | undefined): number {
  return line === undefined ? 0 : line.waiting.size + line.running;
}

/** Lines without jobs that are remembered; beyond that, the oldest are forgotten. */
const mostIdle = 64;

/** The line of a caller; a new one is created. */
export function queueOf<W>({ queues: lines, time }: FairScheduler<W>, caller: string, weight: number): CallerQueue<W> {
  const line = lines.get(caller) ?? { caller, weight, waiting: new Set(), running: 0, served: time };
  line.weight = weight; // keys may be reloaded
  lines.set(caller, line);
  return line;
}

export function startJob<W>(turns: FairScheduler<W>, line: CallerQueue<W>): void {
  const { queues: lines } = turns;
  turns.time = Math.max(turns.time, line.served);
  line.served = turns.time + 1 / line.weight;
  line.running += 1;
  lines.delete(line.caller);
  lines.set(line.caller, line);
  forgetIdle(turns);
}

export function endJob<W>(turns: FairScheduler<W>, line: CallerQueue<W>): void {
  line.running -= 1;
  forgetIdle(turns);
}

/** To be called whenever a line may have no jobs left. */
export function forgetIdle<W>({ queues: lines, time }: FairScheduler<W>): void {
  const idle = [...lines.values()].filter((line) => jobsOf(line) === 0);
  const kept = idle.length === lines.size ? 0 : mostIdle;
  for (const [index, line] of idle.entries()) {
    if (line.served <= time || index < idle.length - kept) lines.delete(line.caller);
  }
}

/**
 * The waiting caller that is next: one that holds fewer slots than its share (so a long job counts while it runs), and
 * among those the one that has been served least.
 */
export function nextCaller<W>(turns: FairScheduler<W>): CallerQueue<W> | undefined {
  let weights = 0;
  for (const line of turns.queues.values()) if (jobsOf(line) > 0) weights += line.weight;
  let next: CallerQueue<W> | undefined;
  let best: readonly [number, number] = [Infinity, Infinity];
  for (const line of turns.queues.values()) {
    if (line.waiting.size === 0) continue;
    const share = (turns.slots * line.weight) / weights;
    const rank = line.running < Math.floor(share) ? 0 : line.running < share ? 1 : 2;
    const served = Math.max(line.served, turns.time);
    if (rank > best[0] || (rank === best[0] && served >= best[1])) continue;
    next = line;
    best = [rank, served];
  }
  return next;
}

/**
 * The waiting jobs in the order in which they will start if no other job arrives and the running ones end in the order of
 * their start. `running` has the line of each running job.
 */
export function servingOrder<W>(turns: FairScheduler<W>, running: readonly CallerQueue<W>[]): W[] {
  const lines = [...turns.queues].map(
    ([caller, line]) => [caller, { ...line, waiting: new Set(line.waiting) }] as const,
  );
  const copy: FairScheduler<W> = { ...turns, queues: new Map(lines) };
  const busy = running.flatMap(({ caller }) => copy.queues.get(caller) ?? []);
  const order: W[] = [];
  for (;;) {
    const ended = busy.shift();
    if (ended) endJob(copy, ended);
    const next = nextCaller(copy);
    if (!next) return order;
    const [oldest] = next.waiting as Set<W> & Iterable<W>;
    order.push(oldest as W); // lines in turn have one
    startJob(copy, next);
    next.waiting.delete(oldest as W);
    busy.push(next);
  }
}

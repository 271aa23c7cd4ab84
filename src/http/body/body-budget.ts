/** Memory budget for request bodies, shared fairly among callers. */
import { getHeapStatistics } from 'node:v8';
import { LinkedList, type Linked } from '../../../lib/linked-list.ts';
import { largestRequestBody } from '../../contract/body-limit.ts';
import { ProblemError } from '../../contract/problems.ts';

/** The first bytes of every body are taken from a reserve, so that large bodies cannot starve small ones. */
export const smallBody = 65_536;

export interface BudgetSize {
  /** Bytes reserved for the first 64 KB of every body. */
  readonly reserve: number;
  /** Bytes shared by the remainders of larger bodies. */
  readonly shared: number;
}

/**
 * Each of the two budgets gets a sixteenth of the heap limit. The shared budget always fits the largest valid request.
 */
export function memoryForBodies(): BudgetSize {
  const share = getHeapStatistics().heap_size_limit / 16;
  return { reserve: share, shared: Math.max(share, largestRequestBody()) };
}

/**
 * Counts the bytes of request bodies in memory. A caller may hold half of the budget, or all of it with a single body.
 * When the budget is exhausted, the newest unfinished body of the caller that holds the most is rejected with
 * `overloaded`.
 */
export class ByteBudget {
  readonly #reserve: Pool;
  readonly #shared: Pool;

  constructor({ reserve, shared }: BudgetSize) {
    this.#reserve = new Pool(reserve);
    this.#shared = new Pool(shared);
  }

  /** Starts counting a body. */
  reserve(caller: string, body: RefusableBody): Reservation {
    return new Reservation(this.#reserve, this.#shared, caller, body);
  }
}

export interface RefusableBody {
  /** Called when another body needs the memory of this one. */
  refuse(problem: ProblemError): void;
}

/** The part of the budget held by one body. */
export class Reservation implements RefusableBody {
  readonly #reserve: Pool;
  readonly #shared: Pool;
  readonly #body: RefusableBody;
  readonly #share: PoolShare;
  #rest: PoolShare | undefined;
  #isReleased = false;

  constructor(reserve: Pool, shared: Pool, caller: string, body: RefusableBody) {
    this.#reserve = reserve;
    this.#shared = shared;
    this.#body = body;
    this.#share = reserve.open(caller, this);
  }

  refuse(problem: ProblemError): void {
    this.release();
    this.#body.refuse(problem);
  }

  /** Sets the size of the body so far. Throws `overloaded` when the budget is exhausted. */
  grow(bytes: number): void {
    if (this.#isReleased) return;
    this.#reserve.grow(this.#share, Math.min(bytes, smallBody));
    if (bytes <= smallBody) return;
    this.#rest ??= this.#shared.open(this.#share.caller, this);
    this.#shared.grow(this.#rest, bytes - smallBody);
  }

  /**
   * Call this when the body has been read and `bytes` of it are kept in memory. The body can then no longer be
   * rejected.
   */
  settle(bytes: number): void {
    if (this.#isReleased) return;
    this.#reserve.settle(this.#share, Math.min(bytes, smallBody));
    if (bytes > smallBody) this.#rest ??= this.#shared.open(this.#share.caller, this);
    if (this.#rest) this.#shared.settle(this.#rest, Math.max(0, bytes - smallBody));
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#reserve.close(this.#share);
    if (this.#rest) this.#shared.close(this.#rest);
  }
}

/** The part of a pool held by one body. */
interface PoolShare extends Linked<PoolShare> {
  readonly caller: string;
  readonly owner: RefusableBody;
  bytes: number;
  isSettled: boolean;
}

/** The shares of a pool held by one caller, oldest first. */
interface CallerShares {
  bytes: number;
  readonly shares: LinkedList<PoolShare>;
}

class Pool {
  readonly #size: number;
  #used = 0;
  readonly #callers = new Map<string, CallerShares>();

  constructor(size: number) {
    this.#size = size;
  }

  open(caller: string, owner: RefusableBody): PoolShare {
    const share: PoolShare = { caller, owner, bytes: 0, isSettled: false };
    const held = this.#callers.get(caller) ?? { bytes: 0, shares: new LinkedList() };
    held.shares.add(share);
    this.#callers.set(caller, held);
    return share;
  }

  grow(share: PoolShare, bytes: number): void {
    if (bytes <= share.bytes) return;
    this.#makeRoom(share, bytes - share.bytes);
    this.#resize(share, bytes);
  }

  settle(share: PoolShare, bytes: number): void {
    share.isSettled = true;
    this.#resize(share, bytes);
    if (bytes === 0) this.close(share);
  }

  close(share: PoolShare): void {
    const held = this.#callers.get(share.caller);
    if (!held?.shares.remove(share)) return;
    this.#resize(share, 0);
    if (held.shares.size === 0) this.#callers.delete(share.caller);
  }

  #resize(share: PoolShare, bytes: number): void {
    const held = this.#callers.get(share.caller);
    if (!held) return;
    held.bytes += bytes - share.bytes;
    this.#used += bytes - share.bytes;
    share.bytes = bytes;
  }

  #makeRoom(share: PoolShare, bytes: number): void {
    for (;;) {
      const crowded =
        this.#overHalf(share, bytes) ?? (this.#used + bytes > this.#size ? this.#most(share, bytes) : undefined);
      if (!crowded) return;
      const newest = [...crowded.shares].findLast(({ isSettled }) => !isSettled);
      const problem = new ProblemError('overloaded', 'The memory for request bodies is exhausted; try again later.');
      if (!newest || newest === share) throw problem;
      newest.owner.refuse(problem);
    }
  }

  /** Returns the caller's shares if there are several and they would exceed half of the pool. */
  #overHalf({ caller }: PoolShare, bytes: number): CallerShares | undefined {
    const own = this.#callers.get(caller);
    return own && own.shares.size > 1 && own.bytes + bytes > this.#size / 2 ? own : undefined;
  }

  /**
   * Returns the shares of the caller that would hold the most after the request, among callers with an unfinished body.
   */
  #most({ caller }: PoolShare, bytes: number): CallerShares | undefined {
    let most: CallerShares | undefined;
    let maxBytes = -1;
    for (const [name, held] of this.#callers) {
      const total = held.bytes + (name === caller ? bytes : 0);
      if (total <= maxBytes || ![...held.shares].some(({ isSettled }) => !isSettled)) continue;
      most = held;
      maxBytes = total;
    }
    return most;
  }
}

/** Memory for request bodies, shared by all requests, in fair parts by caller. */
import { ProblemError } from '../contract/problems.ts';

/** The first bytes of every body come out of a reserve, so that large bodies cannot keep small ones out. */
export const smallBody = 65_536;

export interface BudgetSize {
  /** Bytes for the first 64 KB of every body. */
  readonly reserve: number;
  /** Bytes for the rest of larger ones. */
  readonly shared: number;
}

/**
 * Counts the bytes of bodies that are in memory. One caller may hold half, unless it is for a single body. When all of it is
 * spent, the newest unfinished body of the caller that holds most is refused with `overloaded`.
 */
export class ByteBudget {
  readonly #reserve: Pool;
  readonly #shared: Pool;

  constructor({ reserve, shared }: BudgetSize) {
    this.#reserve = new Pool(reserve);
    this.#shared = new Pool(shared);
  }

  /** Starts to count a body. `refuse` is called when its memory is needed for another caller. */
  claim(caller: string, refuse: (problem: ProblemError) => void): Claim {
    return new Claim(this.#reserve, this.#shared, { caller, refuse });
  }
}

interface Claimant {
  readonly caller: string;
  readonly refuse: (problem: ProblemError) => void;
}

/** What one body holds of the budget. */
export class Claim {
  readonly #reserve: Pool;
  readonly #shared: Pool;
  readonly #share: Share;
  #rest: Share | undefined;
  #isReleased = false;

  constructor(reserve: Pool, shared: Pool, { caller, refuse }: Claimant) {
    const refused = (problem: ProblemError) => {
      this.release();
      refuse(problem);
    };
    this.#reserve = reserve;
    this.#shared = shared;
    this.#share = reserve.open(caller, refused);
  }

  /** The body has so many bytes by now. Throws `overloaded` when they are not to be had. */
  grow(bytes: number): void {
    if (this.#isReleased) return;
    this.#reserve.grow(this.#share, Math.min(bytes, smallBody));
    if (bytes <= smallBody) return;
    this.#rest ??= this.#shared.open(this.#share.caller, this.#share.refuse);
    this.#shared.grow(this.#rest, bytes - smallBody);
  }

  /** The body has been read, and so many bytes of it stay. It can no longer be refused. */
  settle(bytes: number): void {
    if (this.#isReleased) return;
    this.#reserve.settle(this.#share, Math.min(bytes, smallBody));
    if (bytes > smallBody) this.#rest ??= this.#shared.open(this.#share.caller, this.#share.refuse);
    if (this.#rest) this.#shared.settle(this.#rest, Math.max(0, bytes - smallBody));
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#reserve.close(this.#share);
    if (this.#rest) this.#shared.close(this.#rest);
  }
}

/** What one body holds of a pool. */
interface Share {
  readonly caller: string;
  readonly refuse: (problem: ProblemError) => void;
  bytes: number;
  isSettled: boolean;
}

/** What one caller holds of a pool, the oldest share first. */
interface Holding {
  bytes: number;
  readonly shares: Set<Share>;
}

class Pool {
  readonly #size: number;
  #used = 0;
  readonly #holdings = new Map<string, Holding>();

  constructor(size: number) {
    this.#size = size;
  }

  open(caller: string, refuse: Share['refuse']): Share {
    const share: Share = { caller, refuse, bytes: 0, isSettled: false };
    const holding = this.#holdings.get(caller);
    if (holding) holding.shares.add(share);
    else this.#holdings.set(caller, { bytes: 0, shares: new Set([share]) });
    return share;
  }

  grow(share: Share, bytes: number): void {
    if (bytes <= share.bytes) return;
    this.#makeRoom(share, bytes - share.bytes);
    this.#resize(share, bytes);
  }

  settle(share: Share, bytes: number): void {
    share.isSettled = true;
    this.#resize(share, bytes);
    if (bytes === 0) this.close(share);
  }

  close(share: Share): void {
    const holding = this.#holdings.get(share.caller);
    if (!holding?.shares.has(share)) return;
    this.#resize(share, 0);
    holding.shares.delete(share);
    if (holding.shares.size === 0) this.#holdings.delete(share.caller);
  }

  #resize(share: Share, bytes: number): void {
    const holding = this.#holdings.get(share.caller);
    if (!holding) return;
    holding.bytes += bytes - share.bytes;
    this.#used += bytes - share.bytes;
    share.bytes = bytes;
  }

  #makeRoom(share: Share, bytes: number): void {
    for (;;) {
      const crowded =
        this.#overHalf(share, bytes) ?? (this.#used + bytes > this.#size ? this.#most(share, bytes) : undefined);
      if (!crowded) return;
      const newest = [...crowded.shares].findLast(({ isSettled }) => !isSettled);
      const problem = new ProblemError(
        'overloaded',
        'Request bodies use all the memory that is set aside for them; retry later.',
      );
      if (!newest || newest === share) throw problem;
      newest.refuse(problem);
    }
  }

  /** The caller's own holding, when it would be more than its part. */
  #overHalf({ caller }: Share, bytes: number): Holding | undefined {
    const own = this.#holdings.get(caller);
    return own && own.shares.size > 1 && own.bytes + bytes > this.#size / 2 ? own : undefined;
  }

  /** The largest holding with an unfinished body; among equals that of the caller who wants more. */
  #most({ caller }: Share, bytes: number): Holding | undefined {
    let most: Holding | undefined;
    let mostBytes = -1;
    for (const [name, holding] of this.#holdings) {
      const wanted = holding.bytes + (name === caller ? bytes : 0);
      if (wanted <= mostBytes || ![...holding.shares].some(({ isSettled }) => !isSettled)) continue;
      most = holding;
      mostBytes = wanted;
    }
    return most;
  }
}

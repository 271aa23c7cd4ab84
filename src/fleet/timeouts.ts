/** Intervals and timeouts of a fleet, in milliseconds. Tests use shorter ones. */
export interface FleetTimeouts {
  /** Timeout for connecting to Redis and of each command: a connection on which one has passed it is replaced. */
  readonly redisMs: number;
  /** How long an idle worker waits for a ticket before it asks again. */
  readonly takeMs: number;
  /** Timeout for connecting to a front. */
  readonly connectMs: number;
  /** Timeout for the head of a request on the fleet port. */
  readonly headMs: number;
  /** Both ends of a connection send a sign of life this often. */
  readonly signMs: number;
  /** A connection without any sign for this long is dead. */
  readonly silenceMs: number;
  /** How often a front looks for its waiting tickets in Redis. */
  readonly reconcileMs: number;
  /** How often nodes announce themselves, and for how long an announcement counts. */
  readonly announceMs: number;
  readonly announcedMs: number;
  /** How often fronts read the announcements. */
  readonly readNodesMs: number;
  /** Pause of a worker after a first failure of its own making, and the longest after many. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** How long a ticket waits for a first worker. */
  readonly firstWorkerMs: number;
  /** Without a worker for this long, a model is unavailable; before that it is busy. */
  readonly absentMs: number;
  /**
   * Timeout for the completion of a clip of another front, and for its next bytes: longer than those of its owner. Also
   * for a peer that reads nothing of an answer.
   */
  readonly clipMs: number;
}

export const fleetTimeouts: FleetTimeouts = {
  redisMs: 2_000,
  takeMs: 5_000,
  connectMs: 2_000,
  headMs: 10_000,
  signMs: 2_000,
  silenceMs: 6_000,
  reconcileMs: 1_000,
  announceMs: 5_000,
  announcedMs: 15_000,
  readNodesMs: 2_000,
  pauseMs: 1_000,
  longestPauseMs: 30_000,
  firstWorkerMs: 30_000,
  absentMs: 120_000,
  clipMs: 70_000,
};

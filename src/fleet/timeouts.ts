/** Intervals and timeouts of a fleet, in milliseconds. Tests use shorter ones. */
export const fleetTimeouts = {
  /** Timeout for connecting to Redis and of each command: a connection on which one has passed it is replaced. */
  redisMs: 2_000,
  /** How long an idle worker waits for a ticket before it asks again. */
  takeMs: 5_000,
  /** Timeout for connecting to a front. */
  connectMs: 2_000,
  /** Timeout for the head of a request on the fleet port. */
  headMs: 10_000,
  /** Both ends of a connection send a sign of life this often. */
  signMs: 2_000,
  /** A connection without any sign for this long is dead. */
  silenceMs: 6_000,
  /** How often a front looks for its waiting tickets in Redis. */
  reconcileMs: 1_000,
  /** How often nodes announce themselves, and for how long an announcement counts. */
  announceMs: 5_000,
  announcedMs: 15_000,
  /** How often fronts read the announcements. */
  readNodesMs: 2_000,
  /** Pause of a worker after a first failure of its own making, and the longest after many. */
  pauseMs: 1_000,
  longestPauseMs: 30_000,
  /** How long a ticket waits for a first worker. */
  firstWorkerMs: 30_000,
  /** Without a worker for this long, a model is unavailable; before that it is busy. */
  absentMs: 120_000,
  /**
   * Timeout for the completion of a clip of another front, and for its next bytes: longer than those of its owner. Also
   * for a peer that reads nothing of an answer.
   */
  clipMs: 70_000,
};

export type FleetTimeouts = Readonly<typeof fleetTimeouts>;

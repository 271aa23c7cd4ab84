/** Intervals and timeouts of a fleet, in milliseconds. Tests use shorter ones. */
export const fleetTimeouts = {
  /** Timeout for connecting to Redis and for each command. A connection with a timed-out command is replaced. */
  redisMs: 2_000,
  /** Maximum duration of a blocking read for a ticket. */
  takeMs: 5_000,
  /** Timeout for connecting to a front. */
  connectMs: 2_000,
  /** Timeout for the head of a request on the fleet port. */
  headMs: 10_000,
  /** Interval of the heartbeats that both ends of a connection send. */
  heartbeatMs: 2_000,
  /** A connection is dead after this time without a message. */
  silenceMs: 6_000,
  /** Interval at which a front checks its waiting tickets in Redis. */
  reconcileMs: 1_000,
  /** Interval of the announcements of nodes, and their lifetime. */
  announceMs: 5_000,
  announcedMs: 15_000,
  /** Interval at which nodes read the announcements. */
  readNodesMs: 2_000,
  /** First pause of a worker after its failures, and the maximum after repeated failures. */
  pauseMs: 1_000,
  maxPauseMs: 30_000,
  /** How long a call waits for a worker when none is connected. */
  firstWorkerMs: 30_000,
  /** Without a worker, a model is reported as busy for this long, and then as unavailable. */
  absentMs: 120_000,
  /**
   * Timeout for the completion of a clip on another front, and for its next bytes; longer than the owner's own
   * timeouts. Also the timeout for a peer that does not read a response.
   */
  clipMs: 70_000,
};

export type FleetTimeouts = Readonly<typeof fleetTimeouts>;

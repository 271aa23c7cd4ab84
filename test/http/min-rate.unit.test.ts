import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRateWatch } from '../../src/http/body/min-rate.ts';
import type { ProblemError } from '../../src/contract/problems.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const hour = 3_600_000;
const windowBytes = 16_384;

/** A body on its way, by the default pace. */
function begin({ arrivals = createRateWatch(), timeoutMs = hour } = {}) {
  const socket = { bytesRead: 500 };
  const req = { socket, readableLength: 0 };
  const problems: ProblemError[] = [];
  const stop = arrivals.watch(req as unknown as IncomingMessage, {
    timeoutMs,
    late: (problem) => problems.push(problem),
  });
  const details = () => problems.map(({ code, message }) => `${code}: ${message}`);
  return { socket, req, details, stop };
}

const tooSlow = 'request-timeout: The body arrived too slowly: less than 16384 bytes in 30 s.';

describe('the minimum rate of a body', () => {
  it('is violated by less than 16 KB in 30 s after the first 10 s', () => {
    const { socket, details } = begin();
    socket.bytesRead += windowBytes - 1;
    vi.advanceTimersByTime(39_000);
    expect(details()).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(details()).toEqual([tooSlow]);
  });

  it('is met by 16 KB in every 30 s', () => {
    const { socket, details } = begin();
    for (let i = 0; i < 50; i++) {
      socket.bytesRead += windowBytes;
      vi.advanceTimersByTime(30_000);
    }
    expect(details()).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(details()).toEqual([tooSlow]);
  });

  it('does not extend the deadline', () => {
    const { socket, details } = begin({ timeoutMs: 100_000 });
    for (let second = 0; second < 100; second++) {
      socket.bytesRead += windowBytes;
      vi.advanceTimersByTime(1000);
    }
    expect(details()).toEqual(['request-timeout: The body did not arrive within 100 s.']);
  });

  it('is not violated under backpressure', () => {
    const { req, details } = begin();
    req.readableLength = 1;
    vi.advanceTimersByTime(200_000);
    expect(details()).toEqual([]);
  });

  it('stops applying when the body is complete; no timer remains', () => {
    const arrivals = createRateWatch();
    const bodies = [begin({ arrivals }), begin({ arrivals })];
    expect(vi.getTimerCount()).toBe(1);
    for (const { stop } of bodies) stop();
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(200_000);
    for (const { details } of bodies) expect(details()).toEqual([]);
  });

  it('allows a deadline per body', () => {
    const arrivals = createRateWatch();
    const slow = begin({ arrivals });
    const short = begin({ arrivals, timeoutMs: 100 });
    vi.advanceTimersByTime(100);
    expect(short.details()).toHaveLength(1);
    expect(slow.details()).toEqual([]);
    vi.advanceTimersByTime(40_000);
    expect(slow.details()).toEqual([tooSlow]);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

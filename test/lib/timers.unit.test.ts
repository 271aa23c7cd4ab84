import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pause, startTimeout, startTimer } from '../../lib/abort.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const dayMs = 86_400_000;

test.each([1, 24 * dayMs, 25 * dayMs, 80 * dayMs])('a timer of %d ms calls once, and not before', (ms) => {
  const called = vi.fn();
  startTimer(called, ms);
  vi.advanceTimersByTime(ms - 1);
  expect(called).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2);
  expect(called).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(100 * dayMs);
  expect(called).toHaveBeenCalledOnce();
});

test.each([Infinity, 80 * dayMs])('a timer of %d ms can be cleared', (ms) => {
  const called = vi.fn();
  const timer = startTimer(called, ms);
  vi.advanceTimersByTime(50 * dayMs);
  expect(called).not.toHaveBeenCalled();
  clearTimeout(timer);
  vi.advanceTimersByTime(100 * dayMs);
  expect(called).not.toHaveBeenCalled();
});

test('a timeout and a pause of more than 24.8 days do not end at once', async () => {
  using timeout = startTimeout(30 * dayMs, () => new Error('late'));
  const end = new AbortController();
  const paused = vi.fn();
  const over = pause(30 * dayMs, end.signal).then(paused, () => undefined);
  await vi.advanceTimersByTimeAsync(29 * dayMs);
  expect(timeout.signal.aborted).toBe(false);
  expect(paused).not.toHaveBeenCalled();
  end.abort(new Error('enough'));
  await over;
});

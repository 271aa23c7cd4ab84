import { mkdir } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeDirectory } from '../../lib/make-directory.ts';

vi.mock('node:fs/promises', { spy: true });

it('rejects after 5 s on a file system that does not answer', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.mocked(mkdir).mockReturnValueOnce(new Promise(() => undefined));
  const outcome = vi.fn();
  makeDirectory('/network/data').then(outcome, outcome);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(outcome).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2);
  const message = "the file system does not answer within 5 s, mkdir '/network/data'";
  expect(outcome).toHaveBeenCalledExactlyOnceWith(new Error(message));
});

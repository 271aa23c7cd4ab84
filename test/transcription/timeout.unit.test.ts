/** TRANSCRIBE_TIMEOUT. */
import { expect, test } from 'vitest';
import { timeoutMs } from '../../src/transcription/run.ts';

test.each([
  ['auto', 0, 600_000],
  ['auto', 199_000, 600_000],
  ['auto', 3_600_000, 10_800_000],
  [30, 3_600_000, 30_000],
] as const)('%s for %i ms of sound is %i ms', (setting, soundMs, ms) => {
  expect(timeoutMs(setting, soundMs)).toBe(ms);
});

/**
 * How long this thread keeps everything else that it does waiting, in its own processor time: that other threads and
 * other processes have the processor meanwhile is no fault of what is tested.
 */
import { onTestFinished } from 'vitest';

export interface Turns {
  /** Milliseconds of work in one turn of the event loop: the most, and the most in nine turns of ten. */
  readonly longestMs: number;
  readonly usualMs: number;
}

const workedMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Watches from now on; calling the result ends that. */
export function watchTurns(): () => Turns {
  const turns: number[] = [];
  let before = workedMs();
  const take = () => {
    const now = workedMs();
    turns.push(now - before);
    before = now;
  };
  const timer = setInterval(take, 5);
  onTestFinished(() => clearInterval(timer));
  return () => {
    take(); // what has worked since the last turn began counts too
    clearInterval(timer);
    turns.sort((a, b) => a - b);
    return { longestMs: turns.at(-1)!, usualMs: turns[Math.floor(0.9 * turns.length)]! };
  };
}

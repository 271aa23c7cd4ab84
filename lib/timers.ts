/** Node.js calls at once, with a warning, for a delay that its timers cannot count: 24.8 days. */
const longestMs = 2 ** 31 - 1;

/** As `setTimeout`, for any delay; one without an end is `Infinity`. */
export function startTimer(callback: () => void, ms: number): NodeJS.Timeout {
  if (!(ms > longestMs)) return setTimeout(callback, ms);
  let turns = Math.ceil(Math.min(ms, Number.MAX_SAFE_INTEGER) / longestMs);
  const timer = setTimeout(
    () => {
      turns -= 1;
      if (turns > 0) timer.refresh();
      else callback();
    },
    Math.min(longestMs, ms / turns),
  );
  return timer;
}

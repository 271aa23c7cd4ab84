/** Maximum wait in seconds (a day); longer waits are reduced to this maximum. */
const maxSeconds = 86_400;

/** Parses Retry-After into seconds from now; undefined if it is absent or invalid. */
export function readRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), maxSeconds);
}

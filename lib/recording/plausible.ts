/**
 * An Opus packet of silence has 10 bytes with its framing and lasts up to 400 ms. No recording has fewer bytes for its
 * length.
 */
const maxMsPerByte = 40;
const maxMs = 86_400_000;

/**
 * Whether a recording of `bytes` can last `ms`, and is at most a day long: its timestamps may jump, and so may the
 * durations that providers derive from them.
 */
export function canLast(ms: number, { bytes }: { readonly bytes: number }): boolean {
  return ms > 0 && ms <= Math.min(bytes * maxMsPerByte, maxMs);
}

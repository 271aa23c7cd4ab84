/** Limits of an API key as response fields: draft-ietf-httpapi-ratelimit-headers-11, Structured Fields (RFC 9651). */

/** The current state of one limit of a key. */
export interface Policy {
  readonly name: 'requests' | 'concurrent' | 'audio' | 'tokens';
  /** The limit, in `unit`. */
  readonly quota: number;
  /** The remaining amount in `unit`, at least 0. */
  readonly remaining: number;
  /** The unit; requests by default. Units that the draft does not register have the prefix `parlance-`. */
  readonly unit?: 'concurrent-requests' | 'parlance-audio-seconds' | 'parlance-tokens';
  /** Length of the window in seconds; absent for `concurrent`. */
  readonly windowSeconds?: number;
  /** Whole seconds until the window ends; absent for `concurrent`. */
  readonly resetSeconds?: number;
}

export type LimitHeaders = Readonly<Record<string, string>>;

/** Returns the limits as headers. `shown` are the limits whose current state is included. */
export function limitHeaders(policies: readonly Policy[], shown: readonly Policy[]): LimitHeaders {
  return {
    'RateLimit-Policy': policies.map(toPolicyItem).join(', '),
    ...(shown.length > 0 && { RateLimit: shown.map(toLimitItem).join(', ') }),
  };
}

function toPolicyItem({ name, quota, unit, windowSeconds }: Policy): string {
  const inUnits = unit === undefined ? '' : `;qu="${unit}"`;
  const within = windowSeconds === undefined ? '' : `;w=${windowSeconds}`;
  return `"${name}";q=${quota}${inUnits}${within}`;
}

function toLimitItem({ name, remaining, resetSeconds }: Policy): string {
  return `"${name}";r=${remaining}${resetSeconds === undefined ? '' : `;t=${resetSeconds}`}`;
}

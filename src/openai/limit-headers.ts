/** The limits of an API key as headers: those of the native API, and the ones of requests that OpenAI's clients read. */
import { limitHeaders, type LimitHeaders, type Policy } from '../contract/rate-limit.ts';

/** None of tokens: OpenAI's are those of a minute, ours those of a day. */
export function openaiLimitHeaders(policies: readonly Policy[], shown: readonly Policy[]): LimitHeaders {
  const headers = limitHeaders(policies, shown);
  const requests = policies.find(({ name }) => name === 'requests');
  if (!requests?.resetSeconds) return headers; // nothing is known of the next minute
  return {
    ...headers,
    'x-ratelimit-limit-requests': String(requests.quota),
    'x-ratelimit-remaining-requests': String(requests.remaining),
    'x-ratelimit-reset-requests': `${String(requests.resetSeconds)}s`,
  };
}

/** The format of the API under /v1. */
import { openaiContract } from '../contract/document.ts';
import { limitHeaders } from '../contract/rate-limit.ts';
import type { ApiFormat } from '../http/api-format.ts';
import { toErrorAnswer, toErrorResponse } from './errors.ts';
import { readOpenAIPath } from './paths.ts';

export const openaiFormat: ApiFormat = {
  contract: openaiContract,
  readPath: readOpenAIPath,
  toFailure: toErrorAnswer,
  /**
   * Adds OpenAI's headers for request limits. Token headers are omitted, because OpenAI's limits are per minute and
   * ours per day.
   */
  limitHeaders(policies, shown) {
    const headers = limitHeaders(policies, shown);
    const requests = policies.find(({ name }) => name === 'requests');
    if (!requests?.resetSeconds) return headers; // the window has ended, and the state of the next one is unknown
    return {
      ...headers,
      'x-ratelimit-limit-requests': String(requests.quota),
      'x-ratelimit-remaining-requests': String(requests.remaining),
      'x-ratelimit-reset-requests': `${String(requests.resetSeconds)}s`,
    };
  },
  // Chunks have no event names, and SDKs treat events with unknown names as chunks. A stream that ends without [DONE]
  // looks complete to SDKs, so a failure needs its own event.
  stream: {
    encode,
    heartbeat: ': keep-alive\n\n',
    end: (last) => (endsItself(last) ? '' : 'data: [DONE]\n\n'),
    encodeFailure: (problem, { reason }) => encode(toErrorResponse(problem, reason)),
  },
};

function encode(event: unknown): string {
  const name = nameOf(event);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`;
}

/** Returns the event name, which only events of the Responses API have. */
function nameOf(event: unknown): string | undefined {
  const { type } = (event ?? {}) as { readonly type?: string };
  return type?.startsWith('response.') === true ? type : undefined;
}

/** Whether the event ends its stream without [DONE], as in OpenAI's API. */
function endsItself(last: unknown): boolean {
  return nameOf(last) !== undefined || (last as { readonly type?: unknown } | undefined)?.type === 'speech.audio.done';
}

/** Format of the API under /v1. */
import { openaiContract } from '../contract/document.ts';
import { limitHeaders } from '../contract/rate-limit.ts';
import type { ApiFormat } from '../http/api-format.ts';
import { toErrorAnswer, toErrorResponse } from './errors.ts';
import { readOpenAIPath } from './paths.ts';

export const openaiFormat: ApiFormat = {
  contract: openaiContract,
  readPath: readOpenAIPath,
  toFailure: toErrorAnswer,
  /** With those of requests that OpenAI's clients read. None of tokens: OpenAI's are those of a minute, ours of a day. */
  limitHeaders(policies, shown) {
    const headers = limitHeaders(policies, shown);
    const requests = policies.find(({ name }) => name === 'requests');
    if (!requests?.resetSeconds) return headers; // nothing is known of the next minute
    return {
      ...headers,
      'x-ratelimit-limit-requests': String(requests.quota),
      'x-ratelimit-remaining-requests': String(requests.remaining),
      'x-ratelimit-reset-requests': `${String(requests.resetSeconds)}s`,
    };
  },
  // Chunks have no names: SDKs would treat one with an unknown name as a chunk. A stream that ends without [DONE] looks
  // complete to them, so a failure needs its own event.
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

/** The events of a response have names. The last of them ends the stream, also when it has failed. */
function nameOf(event: unknown): string | undefined {
  const { type } = (event ?? {}) as { readonly type?: string };
  return type?.startsWith('response.') === true ? type : undefined;
}

/** Streams that OpenAI's API ends without [DONE]. */
function endsItself(last: unknown): boolean {
  return nameOf(last) !== undefined || (last as { readonly type?: unknown } | undefined)?.type === 'speech.audio.done';
}
